import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { splitUnits } from '../../server/media/rtp/annex-b.ts'
import { h264Description, startScriptedCamera, usualAnswer } from '../support/camera/scripted-camera.ts'

/** A camera on every system, without an encoder: it repeats a film of two seconds (160×90, ten pictures a second). */
export interface FilmCamera extends AsyncDisposable {
  url: string
}

export type FilmCodec = 'H264' | 'H265'

/** Film in Annex B, and how its units are read. */
interface Film {
  file: string
  typeOf: (unit: Buffer) => number
  isPicture: (type: number) => boolean
  /** Format parameters by the base64 text of the parameter sets, in the order of their types. */
  sets: readonly number[]
  format: (sets: readonly string[]) => string
}

const films: Readonly<Record<FilmCodec, Film>> = {
  // Baseline (RFC 6184, section 8.1).
  H264: {
    file: 'film.h264',
    typeOf: (unit) => (unit[0] ?? 0) & 0x1f,
    isPicture: (type) => type === 5 || type === 1,
    sets: [7, 8],
    format: (sets) => `packetization-mode=1;profile-level-id=42c01e;sprop-parameter-sets=${sets.join(',')}`,
  },
  // Main (RFC 7798, section 7.1).
  H265: {
    file: 'film.h265',
    typeOf: (unit) => ((unit[0] ?? 0) >> 1) & 0x3f,
    isPicture: (type) => type < 32,
    sets: [32, 33, 34],
    format: ([vps, sps, pps]) => `sprop-vps=${vps};sprop-sps=${sps};sprop-pps=${pps}`,
  },
}

const everyMs = 100

/** Starts it. Each connection gets the film from its beginning. */
export async function startFilmCamera(codec: FilmCodec = 'H264'): Promise<FilmCamera> {
  const film = films[codec]
  const units = splitUnits(await readFile(join(import.meta.dirname, film.file)))
  const sets = film.sets.map((type) => units.find((unit) => film.typeOf(unit) === type)?.toString('base64') ?? '')
  const body = h264Description
    .replace('H264/90000', `${codec}/90000`)
    .replace(/(a=fmtp:96 ).*/, `$1${film.format(sets)}`)
  const pictures = units.filter((unit) => film.isPicture(film.typeOf(unit)))
  const timers = new Set<NodeJS.Timeout>()
  const play = (socket: Socket): void => {
    let picture = 0
    const timer = setInterval(() => {
      const unit = pictures[picture % pictures.length]
      if (unit !== undefined) socket.write(interleaved(unit, picture))
      picture += 1
    }, everyMs)
    timers.add(timer)
    socket.once('close', () => clearInterval(timer))
  }
  const camera = await startScriptedCamera((request) => {
    if (request.method === 'PLAY') return { status: 200, after: play }
    const answer = usualAnswer(request)
    return request.method === 'DESCRIBE' && answer !== undefined ? { ...answer, body } : answer
  })
  return {
    url: `rtsp://127.0.0.1:${camera.port}/film`,
    [Symbol.asyncDispose]: async () => {
      for (const timer of timers) clearInterval(timer)
      await camera[Symbol.asyncDispose]()
    },
  }
}

/** Makes one RTP packet of one picture (RFC 6184 and RFC 7798, single NAL unit), interleaved (RFC 2326, 10.12). */
function interleaved(unit: Buffer, picture: number): Buffer {
  const header = Buffer.from([0x24, 0, 0, 0, 0x80, 0x80 | 96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
  header.writeUInt16BE(12 + unit.length, 2)
  header.writeUInt16BE(picture & 0xffff, 6)
  header.writeUInt32BE((picture * everyMs * 90) >>> 0, 8)
  return Buffer.concat([header, unit])
}
