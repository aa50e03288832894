import { parseDeviceAddress } from '../../../shared/device-address.ts'
import { eachClockPoint } from '../../../server/media/rtp/rtcp.ts'
import { payloadOf, ssrcOf, timestampOf } from '../../../server/media/rtp/packet.ts'
import type { RtspError } from '../../../server/media/rtsp/rtsp-error.ts'
import { type RtspOptions, RtspSession } from '../../../server/media/rtsp/session.ts'
import type { RtspTrack } from '../../../server/media/rtsp/description.ts'
import { complaintLog } from '../media/complaints.ts'

/** A camera that the node's RTSP client plays in this process, and what it has sent so far. */
export interface PlayedCamera extends AsyncDisposable {
  tracks: readonly RtspTrack[]
  /** Packets of the picture. */
  pictures: { timestamp: number; ssrc: number; marker: boolean; payload: Buffer }[]
  /** Packets of the sound. */
  sounds: number
  /** Clocks in sender reports less ours, in milliseconds. */
  clocks: number[]
  /** End of the stream; undefined: it goes on. */
  ended: RtspError | undefined
}

const login = { name: 'admin', password: 'admin' }

/** Plays a camera. @throws RtspError */
export async function playCamera(url: string, more: Partial<RtspOptions> = {}): Promise<PlayedCamera> {
  const played: PlayedCamera = {
    ...{ tracks: [], pictures: [], sounds: 0, clocks: [], ended: undefined },
    [Symbol.asyncDispose]: () => session.close(),
  }
  const session = new RtspSession(
    {
      address: parseDeviceAddress(url),
      ...{ login, transport: 'auto', trustAnyCertificate: false, answerMs: 3_000, stallMs: 1_000, log: complaintLog() },
      abilities: async () => ({ pictures: true, sound: true }),
      ...more,
    },
    {
      rtp: ({ kind }, packet) => {
        if (kind === 'audio') return void (played.sounds += 1)
        const marker = (packet[1] ?? 0) >= 0x80
        played.pictures.push({
          ...{ timestamp: timestampOf(packet), ssrc: ssrcOf(packet), marker },
          payload: Buffer.from(payloadOf(packet)),
        })
      },
      rtcp: (_track, packet) => eachClockPoint(packet, (_ssrc, { ntp }) => void played.clocks.push(ntp - Date.now())),
      ended: (error) => {
        played.ended = error
      },
    },
  )
  played.tracks = await session.play(new AbortController().signal)
  return played
}
