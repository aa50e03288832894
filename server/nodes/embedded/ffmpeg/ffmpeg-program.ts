import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, isAbsolute } from 'node:path'
import { insideOf, isPathPart } from '../../../../shared/files/own-path.ts'

/** An ffmpeg that makes what browsers play. */
export interface FfmpegProgram {
  /** Path of its file. */
  path: string
  /** As it names it, e.g. `5.1.9-0+deb12u1`. */
  version: string
  /** It makes H.264 with this; undefined: it cannot. */
  pictures: PictureEncoder | undefined
  /** It makes VP8. */
  vp8: boolean
  /** It makes Opus. */
  sound: boolean
}

/** Encoders of H.264 that need no graphics card, the best first. */
const pictureEncoders = ['libx264', 'libopenh264', 'h264_videotoolbox', 'h264_mf'] as const
export type PictureEncoder = (typeof pictureEncoders)[number]

/** Time for the program to list its abilities, in milliseconds. */
const answerMs = 10_000
const maxOutputBytes = 1024 * 1024

/** Folders of installations by hand, by Homebrew and by Snap: a desktop program does not have them in PATH. */
const usualFolders = ['/usr/local/bin', '/usr/bin', '/opt/homebrew/bin', '/snap/bin']

/**
 * Paths to search for the program, in this order.
 * @param wanted a path or a name that the operator gave; empty: `ffmpeg`
 */
function programPlaces(wanted: string, path = process.env.PATH ?? ''): string[] {
  const name = wanted === '' ? 'ffmpeg' : wanted
  const named = isAbsolute(name) || name.includes('/') || name.includes('\\')
  const file = process.platform === 'win32' && !named && !name.endsWith('.exe') ? `${name}.exe` : name
  const folders = [...path.split(delimiter).filter(isAbsolute), ...(process.platform === 'win32' ? [] : usualFolders)]
  if (named) return [file]
  return isPathPart(file) ? folders.map((folder) => insideOf(folder, file)) : []
}

/**
 * The path of the program; undefined when there is none.
 * @param wanted as `programPlaces` takes it
 */
export async function findProgram(wanted: string, path?: string): Promise<string | undefined> {
  for (const candidate of programPlaces(wanted, path)) {
    const found = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return candidate
  }
  return undefined
}

/** Asks it what it is and can. @throws Error when it cannot be run or does not answer */
export async function askProgram(path: string): Promise<FfmpegProgram> {
  const output = await run(path, ['-hide_banner', '-loglevel', 'error', '-encoders'])
  const version = /^ffmpeg version (\S+)/.exec(await run(path, ['-version']))?.[1]
  if (version === undefined) throw new Error('it does not answer as ffmpeg does')
  const encoders = new Set(Array.from(output.matchAll(/^ [A-Z.]{6} (\S+)/gm), ([, encoder]) => encoder))
  return {
    path,
    version: version.slice(0, 64),
    pictures: pictureEncoders.find((encoder) => encoders.has(encoder)),
    vp8: encoders.has('libvpx'),
    sound: encoders.has('libopus'),
  }
}

async function run(path: string, parameters: readonly string[]): Promise<string> {
  const options = { timeout: answerMs, maxBuffer: maxOutputBytes, env: bareEnvironment(), windowsHide: true }
  return await new Promise((resolve, reject) => {
    execFile(path, parameters, options, (error, stdout) => {
      if (error === null) resolve(stdout)
      else reject(new Error('it failed', { cause: error }))
    })
  })
}

/** Environment for a program, without anything that could be secret. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, TMPDIR, TEMP } = process.env
  const kept = { PATH, SystemRoot, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, TMPDIR, TEMP }
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
}
