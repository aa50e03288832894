import { askProgram, findProgram } from '../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { type Check, found } from './finding.ts'
import { reasonOf } from './readiness.ts'

/** Checks whether ffmpeg is there, and makes what browsers play. @param wanted path or name of the program; empty: `ffmpeg` */
export function ffmpegCheck(wanted: string): Check {
  return async () => {
    const path = await findProgram(wanted)
    if (path === undefined) {
      return wanted === ''
        ? found('ffmpegMissing')
        : found('ffmpegBroken', { reason: `${wanted} is no program that can be run.` })
    }
    const program = await askProgram(path).catch((error: unknown) => ({ reason: reasonOf(error) }))
    if ('reason' in program) return found('ffmpegBroken', program)
    const { version, pictures: encoder, sound } = program
    const missing = [encoder === undefined ? 'H.264' : '', sound ? '' : 'Opus'].filter((name) => name !== '').join(', ')
    if (encoder === undefined || missing !== '') return found('ffmpegPart', { version, missing })
    return found('ffmpegWhole', { version, encoder })
  }
}
