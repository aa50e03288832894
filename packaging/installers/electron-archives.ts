import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'

const root = resolve(import.meta.dirname, '../..')

const electronHome = join(root, 'node_modules/electron')

/**
 * Puts Electron's archives into a folder, by the code that fetches Electron for `npm start`: with its progress, its proxy and its mirror.
 * @param systems e.g. `linux-x64`
 * @param home folder of the package electron: its version and checksums
 * @returns a sentence for each that is missing; why it is, was said on stderr
 */
export async function bringElectron(
  folder: string,
  systems: readonly string[],
  home = electronHome,
): Promise<string[]> {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(home, file), 'utf8'))
  const { version } = read('package.json') as { version: string }
  const checksums = read('checksums.json') as Record<string, string>
  const missing: string[] = []
  for (const system of systems) {
    const archive = `electron-v${version}-${system}.zip`
    if (checksums[archive] !== undefined && (await checksumOf(join(folder, archive))) === checksums[archive]) continue
    const [platform = '', arch = ''] = system.split('-')
    const target = ['--into', folder, `--platform=${platform}`, `--arch=${arch}`]
    const child = spawn(process.execPath, [join(root, 'scripts/fetch-electron.mjs'), home, ...target], {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, NODE_USE_ENV_PROXY: '1' },
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code === 0) continue
    missing.push(
      `Electron for ${platform} ${arch}: name a folder or archive that holds it (-c.electronDist=PATH), or put ${archive} into ${folder}.`,
    )
  }
  return missing
}

/** SHA-256 of a file in hexadecimal digits; undefined where there is none. */
async function checksumOf(file: string): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file), hash)
    return hash.digest('hex')
  } catch {
    return undefined
  }
}
