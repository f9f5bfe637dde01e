// SPDX-License-Identifier: GPL-2.0-or-later
#include "qemu_plugin/vcpu.h"

static af_thread* nobody;
__thread vcpu vcpu_mine = {.self = &nobody};
