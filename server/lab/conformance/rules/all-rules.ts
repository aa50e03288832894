import type { RuleGroup } from '../trial.ts'
import { authenticationRules } from './authentication.ts'
import { deviceRules } from './devices.ts'
import { joinedDeviceRules } from './joined-devices.ts'
import { orderRules } from './order.ts'
import { parallelRules } from './parallel.ts'
import { parameterRules } from './parameters.ts'
import { recordingRules } from './recordings.ts'
import { requestRules } from './requests.ts'
import { roomRules } from './rooms.ts'
import { tokenRules } from './tokens.ts'
import { userRules } from './users.ts'

/** All rules, in the order in which they are checked. */
export const allRules: readonly RuleGroup[] = [
  { title: 'Authentication', rules: authenticationRules },
  { title: 'Requests', rules: requestRules },
  { title: 'Tokens and methods', rules: tokenRules },
  { title: 'Parameters', rules: parameterRules },
  { title: 'Order of checks', rules: orderRules },
  { title: 'Rooms', rules: roomRules },
  { title: 'MCU and users', rules: userRules },
  { title: 'Outgoing users', rules: [...deviceRules, ...joinedDeviceRules] },
  { title: 'Recordings and live streams', rules: recordingRules },
  { title: 'Calls at the same time', rules: parallelRules },
]
