import { parseDeviceAddress } from '../../shared/device-address.ts'
import type { CameraSearch } from '../devices/discovery/camera-search.ts'
import type { DeviceTable } from '../devices/device-table.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { inBulk } from '../rooms/bulk.ts'
import type { SiteTags } from '../rooms/tags.ts'
import { type cameraHandlers, requireDeviceView } from './camera-procedures.ts'
import type { Trash } from '../store/trash.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import type { tagHandlers } from './tag-procedures.ts'
import { deletionBy, undoOf } from './trash-procedures.ts'
import type { DeviceView } from '../../shared/domain/devices.ts'

export function deviceHandlers(
  outgoing: OutgoingUsers,
  table: DeviceTable,
  cameraSearch: CameraSearch,
  tags: SiteTags,
  trash: Trash,
  logger: NodeLogger,
): ProcedureHandlers<
  Exclude<ProceduresOf<'devices'>, keyof ReturnType<typeof cameraHandlers> | keyof ReturnType<typeof tagHandlers>>
> {
  const view = (userId: string): DeviceView => requireDeviceView(outgoing, userId)
  return {
    'devices.list': async ({ roomId, tags: wanted }) => {
      if (wanted.length === 0) return outgoing.views(roomId)
      await tags.ready()
      const tagged = tags.devices.withAll(wanted)
      return outgoing.views(roomId).filter(({ userId }) => tagged.has(userId))
    },
    'devices.history': ({ userId }) => outgoing.history.of(view(userId).userId),
    'devices.parse_address': ({ address }) => {
      const { address: bare, login, host, port } = parseDeviceAddress(address)
      return { address: bare, login_name: login?.name ?? '', login_password: login?.password ?? '', host, port }
    },
    'devices.probe': (given) => outgoing.probe(given),
    'devices.discover': async () => {
      const { cameras, searched, outside } = await cameraSearch.search()
      return { items: cameras.map(({ id, name, model, host }) => ({ id, name, model, host })), searched, outside }
    },
    'devices.discovered_streams': ({ id, login_name = '', login_password = '' }) =>
      cameraSearch.streams(
        id,
        login_name === '' && login_password === '' ? undefined : { name: login_name, password: login_password },
      ),
    'devices.create': async ({ join, ...given }) => {
      const device = { ...given, tags: given.tags && (await tags.spelled('devices', given.tags)) }
      const { userId } = await (join === 'required'
        ? outgoing.creation.addJoined(device)
        : outgoing.creation.add(device))
      return view(userId)
    },
    'devices.update': async ({ userId, ...changes }) => {
      await outgoing.update(userId, changes)
      return view(userId)
    },
    'devices.pause': ({ userIds }) => inBulk(userIds, logger, (userId) => outgoing.pause(userId)),
    'devices.resume': ({ userIds }) => inBulk(userIds, logger, (userId) => outgoing.resume(userId)),
    'devices.retry': ({ userIds }) => inBulk(userIds, logger, async (userId) => outgoing.retry(userId)),
    'devices.remove': async ({ userIds }, origin) => {
      const deletion = deletionBy(origin)
      const outcome = await inBulk(userIds, logger, (userId) => outgoing.remove(userId, deletion))
      return { ...outcome, undo: undoOf(trash, deletion) }
    },
    'devices.import_preview': ({ text }) => table.preview(text),
    'devices.import': ({ text }) => table.import(text),
    'devices.export': () => ({ text: table.export() }),
  }
}
