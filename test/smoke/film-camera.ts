import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { h264Description, startScriptedCamera, usualAnswer } from '../support/camera/scripted-camera.ts'

/** A camera on every system, without an encoder: it repeats a film of two seconds (H.264 baseline, 160×90, ten pictures a second). */
export interface FilmCamera extends AsyncDisposable {
  url: string
}

const everyMs = 100

/** Starts it. Each connection gets the film from its beginning. */
export async function startFilmCamera(): Promise<FilmCamera> {
  const units = splitUnits(await readFile(join(import.meta.dirname, 'film.h264')))
  const sets = [7, 8].map((type) => units.find((unit) => typeOf(unit) === type)?.toString('base64') ?? '')
  const body = h264Description.replace(/sprop-parameter-sets=\S*/, `sprop-parameter-sets=${sets.join(',')}`)
  const pictures = units.filter((unit) => typeOf(unit) === 5 || typeOf(unit) === 1)
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

const typeOf = (unit: Buffer): number => (unit[0] ?? 0) & 0x1f

/** Splits a stream in Annex B of H.264 into its units, without start codes. */
function splitUnits(film: Buffer): Buffer[] {
  const starts: { code: number; unit: number }[] = []
  for (let at = film.indexOf('\0\0\x01', 0, 'latin1'); at >= 0; at = film.indexOf('\0\0\x01', at + 3, 'latin1'))
    starts.push({ code: film[at - 1] === 0 ? at - 1 : at, unit: at + 3 })
  return starts.map(({ unit }, index) => film.subarray(unit, starts[index + 1]?.code))
}

/** Makes one RTP packet of one picture (RFC 6184, single NAL unit mode), interleaved (RFC 2326, 10.12). */
function interleaved(unit: Buffer, picture: number): Buffer {
  const header = Buffer.from([0x24, 0, 0, 0, 0x80, 0x80 | 96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
  header.writeUInt16BE(12 + unit.length, 2)
  header.writeUInt16BE(picture & 0xffff, 6)
  header.writeUInt32BE((picture * everyMs * 90) >>> 0, 8)
  return Buffer.concat([header, unit])
}
