import accounts from '../../../texts/en/console/accounts.json'
import common from '../../../texts/en/console/common.json'
import complaints from '../../../texts/en/console/complaints.json'
import controllers from '../../../texts/en/console/controllers.json'
import devices from '../../../texts/en/console/devices.json'
import eventLog from '../../../texts/en/console/eventLog.json'
import find from '../../../texts/en/console/find.json'
import help from '../../../texts/en/console/help.json'
import nodes from '../../../texts/en/console/nodes.json'
import overview from '../../../texts/en/console/overview.json'
import readiness from '../../../texts/en/console/readiness.json'
import recording from '../../../texts/en/console/recording.json'
import refusals from '../../../texts/en/console/refusals.json'
import rooms from '../../../texts/en/console/rooms.json'
import schedule from '../../../texts/en/console/schedule.json'
import tags from '../../../texts/en/console/tags.json'
import waiting from '../../../texts/en/console/waiting.json'
import type { ComplaintName } from '../../../shared/refusals/complaints.ts'
import type { RefusalName } from '../../../shared/refusals/refusal.ts'

/**
 * English texts of the first load. They define the keys of every language. The file name is the first part of the keys.
 */
export const english = {
  ...common,
  accounts,
  complaints: complaints satisfies Record<ComplaintName, string>,
  controllers,
  devices,
  eventLog,
  find,
  help,
  nodes,
  overview,
  readiness,
  recording,
  refusals: refusals satisfies Record<RefusalName, string>,
  rooms,
  schedule,
  tags,
  waiting,
}
