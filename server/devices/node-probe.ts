import { deviceErrorMessages } from '../../shared/device.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { ControlResult } from '../../shared/media/control.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import { NodeError } from '../nodes/port/media-node-port.ts'
import type { DeviceProbe } from './probe-result.ts'

/** Looks at devices through an embedded node: they pull them, too. @throws ApiError nodeOffline when it does not run */
export function probeThrough(media: Pick<EmbeddedNodes, 'anyClient'>): DeviceProbe {
  const look = lookThrough(media)
  return async (device, signal) => {
    const { ok, kind, tracks, message, detail } = await look(device, signal)
    return { ok, kind, tracks, message, detail }
  }
}

/** The same for a node of another kind, which is to pull the device where it answered. @throws as `probeThrough` */
export function lookThrough(
  media: Pick<EmbeddedNodes, 'anyClient'>,
): (...device: Parameters<DeviceProbe>) => Promise<Awaited<ReturnType<DeviceProbe>> & { address: string }> {
  return async ({ address: asked, login, oldTls }, signal) => {
    try {
      const client = await media.anyClient(signal)
      const { ok, kind, tracks, address, detail } = await client.request(
        'probe',
        { address: asked, login, oldTls },
        signal,
      )
      const message = kind === null ? summaryOf(tracks) : deviceErrorMessages[kind]
      return { ok, kind, tracks, address, message, detail }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      throw new ApiError('nodeOffline', { refusal: refusal('embeddedOff'), cause: error })
    }
  }
}

function summaryOf(tracks: ControlResult<'probe'>['tracks']): string {
  const left = tracks.filter(({ carried }) => !carried).map(({ detail }) => `${detail}.`)
  return ['The device can join a room.', ...left].join(' ')
}
