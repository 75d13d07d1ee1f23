// SPDX-License-Identifier: Apache-2.0
#include "bench/app/commands.hpp"

int main(int argc, char** argv) { return mergewise::run_program(argc, argv); }
