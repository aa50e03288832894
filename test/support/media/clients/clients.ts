import { execFile, execFileSync } from 'node:child_process'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Report of a third-party client at its end. */
export interface ClientResult {
  /** Status of the answer to its offer. */
  status: number
  /** Pictures sent or received. */
  pictures: number
  /** State of its connection just before the end. */
  state: string
  /** Status of its DELETE. */
  goodbye: number
}

export type Way = 'whip' | 'whep'
export type Codec = 'VP8' | 'H264'

/** One run of a client: publishes or watches for some seconds, then deletes its session. */
export type Client = (way: Way, url: string, token: string, codec: Codec, seconds: number) => Promise<ClientResult>

const run = promisify(execFile)

async function resultOf(program: string, args: readonly string[]): Promise<ClientResult> {
  const { stdout } = await run(program, args, { timeout: 120_000 })
  return JSON.parse(stdout) as ClientResult
}

/** Finds aiortc. @throws Error with the command that installs it */
export function aiortc(): Client {
  const python = '/usr/bin/python3'
  try {
    execFileSync(python, ['-c', 'import aiortc'], { stdio: 'ignore' })
  } catch {
    throw new Error('aiortc is missing: apt-get install python3-aiortc')
  }
  return async (way, url, token, codec, seconds) =>
    await resultOf(python, [join(import.meta.dirname, 'aiortc-client.py'), way, url, token, codec, String(seconds)])
}

/** Library folder of Debian's packages. */
const goCode = '/usr/share/gocode'

/**
 * Builds a program on Pion in a folder. Resolves to its path.
 * @param source folder of its main.go
 * @throws Error of the compiler, or with the command that installs it
 */
export async function buildPion(source: string, folder: string): Promise<string> {
  const module = join(folder, 'go/src/program')
  await mkdir(module, { recursive: true })
  await copyFile(join(source, 'main.go'), join(module, 'main.go'))
  // Only a module resolves a library by the path of its major version.
  await writeFile(join(module, 'go.mod'), 'module program\n')
  const program = join(folder, 'pion')
  const env = {
    ...process.env,
    GO111MODULE: 'off',
    GOPATH: `${join(folder, 'go')}:${goCode}`,
  }
  try {
    await run('/usr/bin/go', ['build', '-o', program, '.'], { cwd: module, env })
  } catch (cause) {
    throw new Error('Pion cannot be built: apt-get install golang-go golang-github-pion-webrtc.v3-dev', { cause })
  }
  return program
}

/**
 * Pion, built in a folder.
 * @throws as `buildPion`
 */
export async function pion(folder: string): Promise<Client> {
  const program = await buildPion(join(import.meta.dirname, 'pion'), folder)
  const files: Record<Codec, string> = { VP8: join(folder, 'pictures.ivf'), H264: join(folder, 'pictures.h264') }
  const picture = ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc=size=320x180:rate=15', '-frames:v', '45', '-g', '15']
  const small = ['-pix_fmt', 'yuv420p', '-b:v', '200k']
  await run('ffmpeg', [...picture, '-c:v', 'libvpx', ...small, files.VP8])
  await run('ffmpeg', [...picture, '-c:v', 'libx264', '-profile:v', 'baseline', ...small, files.H264])
  return async (way, url, token, codec, seconds) =>
    await resultOf(program, [way, url, token, codec, String(seconds), files[codec]])
}
