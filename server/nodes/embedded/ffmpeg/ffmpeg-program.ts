import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, isAbsolute } from 'node:path'
import { insideOf, isPathPart } from '../../../../shared/files/own-path.ts'

/** An ffmpeg, with its encoders for the formats that browsers play. */
export interface FfmpegProgram {
  path: string
  /** Version in its own notation, e.g. `5.1.9-0+deb12u1`. */
  version: string
  /** Encoder of H.264; undefined: none. */
  pictures: PictureEncoder | undefined
  vp8: boolean
  sound: boolean
}

/** Encoders of H.264 that need no graphics card, in order of preference. */
const pictureEncoders = ['libx264', 'libopenh264', 'h264_videotoolbox', 'h264_mf'] as const
export type PictureEncoder = (typeof pictureEncoders)[number]

/** Timeout of each query of the program, in milliseconds. */
const answerMs = 10_000
const maxOutputBytes = 1024 * 1024

/** Folders of manual installations, Homebrew and Snap. They are not in the PATH of a desktop program. */
const usualFolders = ['/usr/local/bin', '/usr/bin', '/opt/homebrew/bin', '/snap/bin']

/**
 * Returns the paths at which to search for the program, in order.
 * @param wanted path or name given by the operator; empty: `ffmpeg`
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
 * Returns the path of the program; undefined if it was not found.
 * @param wanted see `programPlaces`
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

/**
 * Queries the program's version and encoders.
 * @throws Error if it cannot be run or does not answer
 */
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

/** Returns an environment without secrets for a program. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, TMPDIR, TEMP } = process.env
  const kept = { PATH, SystemRoot, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, TMPDIR, TEMP }
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
}
