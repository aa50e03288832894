import { accounts } from './accounts.ts'
import { common } from './common.ts'
import { controllers } from './controllers.ts'
import { devices } from './devices.ts'
import { eventLog } from './events.ts'
import { find } from './find.ts'
import { help } from './help.ts'
import { nodes } from './nodes.ts'
import { overview } from './overview.ts'
import { readiness } from './readiness.ts'
import { recording } from './recording.ts'
import { complaints, refusals } from './refusals.ts'
import { rooms } from './rooms.ts'
import { schedule } from './schedule.ts'
import { tags } from './tags.ts'
import { waiting } from './waiting.ts'

/** English texts of the first load. */
export const en = {
  ...common,
  complaints,
  refusals,
  accounts,
  overview,
  readiness,
  recording,
  rooms,
  schedule,
  nodes,
  controllers,
  devices,
  find,
  help,
  eventLog,
  tags,
  waiting,
} as const
