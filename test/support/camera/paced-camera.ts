import { senderReport } from '../../../server/media/rtp/rtcp.ts'
import { startScriptedCamera, usualAnswer } from './scripted-camera.ts'

/** Rate and size of the stream. */
interface Pacing {
  /** Packets per picture. */
  packets: number
  /** Interval between pictures, in milliseconds. */
  everyMs: number
  /** Distance between key frames, in pictures. */
  gop?: number
  /** Size of a packet including its header, in bytes. */
  bytes?: number
  /** Whether it reports its uptime instead of the time with each key frame, as a camera without a clock does; left out: it reports no time. */
  tellsUptime?: boolean
}

/** A camera that sends empty pictures at a known rate: it costs no encoding. */
export interface PacedCamera extends AsyncDisposable {
  url: string
}

/** Starts the camera; each connection gets pictures of its own, beginning with a key frame. */
export async function startPacedCamera({
  packets,
  everyMs,
  gop = 25,
  bytes = 1_000,
  tellsUptime = false,
}: Pacing): Promise<PacedCamera> {
  const timers = new Set<NodeJS.Timeout>()
  const camera = await startScriptedCamera((request) =>
    request.method === 'PLAY'
      ? {
          status: 200,
          after: (socket) => {
            let picture = 0
            let sequence = 0
            const timer = setInterval(() => {
              for (let i = 0; i < packets; i++) {
                socket.write(
                  interleaved(sequence, picture * everyMs * 90, picture % gop === 0, i === packets - 1, bytes),
                )
                sequence += 1
              }
              if (tellsUptime && picture % gop === 0) socket.write(uptimeReport(picture * everyMs * 90))
              picture += 1
            }, everyMs)
            timers.add(timer)
            socket.once('close', () => clearInterval(timer))
          },
        }
      : usualAnswer(request),
  )
  return {
    url: `rtsp://127.0.0.1:${camera.port}/paced`,
    [Symbol.asyncDispose]: async () => {
      for (const timer of timers) clearInterval(timer)
      await camera[Symbol.asyncDispose]()
    },
  }
}

function interleaved(sequence: number, timestamp: number, key: boolean, last: boolean, bytes: number): Buffer {
  const frame = Buffer.alloc(4 + bytes)
  frame.set([0x24, 0, bytes >> 8, bytes & 0xff, 0x80, last ? 0x80 | 96 : 96])
  frame.writeUInt16BE(sequence & 0xffff, 6)
  frame.writeUInt32BE(timestamp >>> 0, 8)
  frame[16] = key ? 0x65 : 0x41
  return frame
}

/** Seconds from 1900, where NTP begins, to 1970. */
const secondsTo1970 = 2_208_988_800

/** A sender report on the channel beside the media. */
function uptimeReport(timestamp: number): Buffer {
  const report = senderReport(0, (process.uptime() - secondsTo1970) * 1_000, timestamp, 1, 1)
  return Buffer.concat([Buffer.from([0x24, 1, report.length >> 8, report.length & 0xff]), report])
}
