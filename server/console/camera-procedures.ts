import { RefusalError } from '../../shared/domain/outcome.ts'
import { parseDeviceAddress } from '../../shared/device-address.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Settings } from '../../shared/settings.ts'
import { cameraUptimeOf } from '../devices/camera-uptime.ts'
import { takesOldTls } from '../devices/device-options.ts'
import { changeLogin } from '../devices/login-change.ts'
import type { PictureRounds } from '../devices/pictures/picture-rounds.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { loginToTry } from '../devices/stored-login.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import { NodeError } from '../nodes/port/media-node-port.ts'
import type { Store } from '../store/store.ts'
import type { ProcedureHandlers } from './handlers.ts'
import type { DeviceView } from '../../shared/domain/devices.ts'

export interface CameraDependencies {
  store: Store
  outgoing: OutgoingUsers
  events: Pick<SharedEventLog, 'query'>
  /** Embedded nodes; undefined: none. */
  media: EmbeddedNodes | undefined
  settings: () => Settings
  pictures: Pick<PictureRounds, 'of' | 'read'>
}

/** Timeout of a picture, in milliseconds: key frames of cameras are up to several seconds apart. */
const stillMs = 8_000

/**
 * Returns the console's view of a device.
 * @throws RefusalError notFound
 */
export function requireDeviceView(outgoing: Pick<OutgoingUsers, 'view'>, userId: string): DeviceView {
  const view = outgoing.view(userId)
  if (view === undefined) throw new RefusalError(refusal('deviceNotFound'))
  return view
}

/** Procedures on the record, the stream and the login of one camera. */
export function cameraHandlers({
  store,
  outgoing,
  events,
  media,
  settings,
  pictures,
}: CameraDependencies): ProcedureHandlers<
  | 'devices.uptime'
  | 'devices.quality'
  | 'devices.pictures'
  | 'devices.picture'
  | 'devices.still'
  | 'devices.change_login'
> {
  const view = (userId: string): DeviceView => requireDeviceView(outgoing, userId)
  return {
    'devices.uptime': ({ userId }) => cameraUptimeOf(events, userId, view(userId).created_at, Date.now()),
    'devices.quality': async ({ userId }) => {
      const { state, roomId } = view(userId)
      if (state !== 'joined') return { state: 'away', now: null, minutes: [] }
      const node = store.get('rooms', roomId)?.node ?? ''
      if (!media?.names.includes(node)) return { state: 'remote', now: null, minutes: [] }
      const signal = AbortSignal.timeout(settings().deadlines.node_ms)
      try {
        const client = await media.client(node, signal)
        const { quality } = await client.request('camera_quality', { roomId, streamId: userId }, signal)
        if (quality === null) return { state: 'away', now: null, minutes: [] }
        return { state: 'measured', ...quality }
      } catch (error) {
        if (!signal.aborted && !(error instanceof NodeError)) throw error
        throw new RefusalError(refusal('embeddedSilent'), { cause: error })
      }
    },
    'devices.pictures': ({ userId }) => ({ items: [...pictures.of(view(userId).userId)] }),
    'devices.picture': async ({ userId, at }) => ({ picture: (await pictures.read(view(userId).userId, at)) ?? null }),
    'devices.still': async (given) => {
      const parsed = parseDeviceAddress(given.userAddress)
      const device = given.userId === undefined ? undefined : store.get('devices', given.userId)
      const login = loginToTry(parsed, given, device, store)
      const oldTls = given.old_tls ?? (device !== undefined && takesOldTls(device))
      if (media === undefined || media.names.length === 0) return { picture: null, missing: 'simulated' }
      const signal = AbortSignal.timeout(stillMs)
      try {
        const client = await media.anyClient(signal)
        return await client.request('camera_still', { address: parsed, login, oldTls }, signal)
      } catch (error) {
        if (signal.aborted) return { picture: null, missing: 'timeout' }
        if (!(error instanceof NodeError)) throw error
        return { picture: null, missing: 'failed' }
      }
    },
    'devices.change_login': ({ userId, ...login }) => changeLogin(outgoing, userId, view(userId).userAddress, login),
  }
}
