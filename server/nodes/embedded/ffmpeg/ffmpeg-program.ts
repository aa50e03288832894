import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { constants as systemConstants, setPriority } from 'node:os'
import { delimiter, isAbsolute } from 'node:path'
import { insideOf, isPathPart } from '../../../../shared/files/own-path.ts'
import type { FfmpegTell } from '../../../../shared/media/ffmpeg.ts'
import type { NodeLogger } from '../../port/node-failure.ts'

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

/** Minimum interval between searches for a missing ffmpeg, which may be installed meanwhile; in milliseconds. */
const lookAgainMs = 5_000

/** The ffmpeg of this machine, shared by all nodes. It is searched for at the first request. */
export class LocalFfmpeg {
  readonly #wanted: string
  readonly #logger: NodeLogger
  #program: FfmpegProgram | undefined
  #problem = ''
  #search: Promise<void> | undefined
  #searchedAt = -Infinity

  /** @param wanted path or name of the program; empty: `ffmpeg` */
  constructor(wanted: string, logger: NodeLogger) {
    this.#wanted = wanted
    this.#logger = logger
  }

  /** The program; undefined while it was not found. */
  get program(): FfmpegProgram | undefined {
    return this.#program
  }

  /** Returns facts about ffmpeg for a node. Searches again if ffmpeg was missing. Never rejects. */
  async look(): Promise<Pick<Extract<FfmpegTell, { tell: 'program' }>, 'program' | 'problem'>> {
    if (this.#program === undefined && performance.now() - this.#searchedAt > lookAgainMs) {
      this.#search ??= this.#find().finally(() => {
        this.#search = undefined
        this.#searchedAt = performance.now()
      })
    }
    await this.#search
    if (this.#program === undefined) return { program: null, problem: this.#problem }
    const { version, pictures, vp8, sound } = this.#program
    return { program: { version, pictures: pictures !== undefined, vp8, sound }, problem: '' }
  }

  async #find(): Promise<void> {
    try {
      const path = await findProgram(this.#wanted)
      this.#problem = path === undefined && this.#wanted !== '' ? `${this.#wanted} is not an executable program` : ''
      if (path === undefined) return
      this.#program = await askProgram(path)
      this.#logger.info({ path, version: this.#program.version }, 'ffmpeg was found')
    } catch (error) {
      this.#problem = 'ffmpeg is there and cannot be run'
      this.#logger.warn({ err: error }, this.#problem)
    }
  }
}

/** Returns an environment without secrets for a program. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, TMPDIR, TEMP } = process.env
  const kept = { PATH, SystemRoot, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, TMPDIR, TEMP }
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
}

/**
 * Limit of the address space, in KiB, because malicious pictures may request any amount of memory. The libraries alone
 * use 0.7 GB of address space.
 */
const maxMemory = 3 * 1024 * 1024
/**
 * Limits memory and disables core dumps on POSIX systems. With setpriv, ffmpeg is killed when its parent thread ends,
 * even if ffmpeg is stopped. Without setpriv, ffmpeg ends at the end of its standard input.
 */
const bounded =
  `ulimit -v ${maxMemory} 2>/dev/null; ulimit -c 0; ` +
  `if command -v setpriv >/dev/null 2>&1; then exec setpriv --pdeathsig KILL -- "$0" "$@"; fi; exec "$0" "$@"`

/** Maximum length of stderr output that is kept, in characters. */
const maxComplaint = 600

export interface SpawnedFfmpeg {
  child: ChildProcessWithoutNullStreams
  /** Returns the last lines of stderr, which may contain addresses. */
  complaint: () => string
}

/**
 * Starts ffmpeg with a lower priority than live media, limited memory, and no secrets in its environment. Errors of its
 * pipes are ignored: it may end at any time, and then emits `close`.
 * @param path path of the program
 * @param options.descriptors number of pipes: 3, or more for further outputs
 * @param options.notLowered called if the priority cannot be lowered, because the process has ended or the system
 * refused
 */
export function spawnFfmpeg(
  path: string,
  parameters: readonly string[],
  { descriptors = 3, notLowered = () => {} }: { descriptors?: number; notLowered?: (error: unknown) => void } = {},
): SpawnedFfmpeg {
  const { command, given } = boundedCommand(path, parameters)
  const stdio = Array.from({ length: descriptors }, () => 'pipe' as const)
  const child = spawn(command, given, { stdio, env: bareEnvironment(), cwd: '/', windowsHide: true })
  let complaint = ''
  child.stdin.on('error', () => {})
  child.stderr.on('error', () => {})
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString('utf8')}`.slice(-maxComplaint)
  })
  if (child.pid !== undefined) {
    try {
      setPriority(child.pid, systemConstants.priority.PRIORITY_BELOW_NORMAL)
    } catch (error) {
      notLowered(error)
    }
  }
  return { child, complaint: () => complaint.trim() }
}

/** Returns the command that runs a program with limited memory, because it processes untrusted media. */
export function boundedCommand(path: string, parameters: readonly string[]): { command: string; given: string[] } {
  if (process.platform === 'win32') return { command: path, given: [...parameters] }
  return { command: '/bin/sh', given: ['-c', bounded, path, ...parameters] }
}
