import type { Catalogue } from '../text.ts'
import { accessLinks } from './access-links.ts'
import { accounts } from './accounts.ts'
import { activity } from './activity.ts'
import { common } from './common.ts'
import { controllers } from './controllers.ts'
import { credentials } from './credentials.ts'
import { devices } from './devices.ts'
import { displays } from './displays.ts'
import { edits } from './edits.ts'
import { eventLog } from './events.ts'
import { find } from './find.ts'
import { help } from './help.ts'
import { lab } from './lab.ts'
import { media } from './media.ts'
import { nodes } from './nodes.ts'
import { overview } from './overview.ts'
import { readiness } from './readiness.ts'
import { recording } from './recording.ts'
import { complaints, refusals } from './refusals.ts'
import { playback } from './playback.ts'
import { restart } from './restart.ts'
import { rooms } from './rooms.ts'
import { schedule } from './schedule.ts'
import { settings } from './settings.ts'
import { templates } from './templates.ts'
import { trash } from './trash.ts'
import { trust } from './trust.ts'
import { tags } from './tags.ts'
import { tester } from './tester.ts'
import { updates } from './updates.ts'
import { waiting } from './waiting.ts'
import { wall } from './wall.ts'

/** Every German text. */
export const de: Catalogue = {
  ...common,
  complaints,
  refusals,
  accessLinks,
  accounts,
  overview,
  credentials,
  readiness,
  recording,
  rooms,
  schedule,
  nodes,
  controllers,
  devices,
  displays,
  edits,
  activity,
  find,
  help,
  eventLog,
  tags,
  tester,
  templates,
  trash,
  trust,
  restart,
  settings,
  lab,
  playback,
  media,
  updates,
  waiting,
  wall,
}
