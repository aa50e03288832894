import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { listPackage } from '@electron/asar'
import { machineCodeOf } from './machine-code.ts'

/** Every native package of the archive lies beside it, and is for this machine. */
export async function checkNatives(resources: string, platform: NodeJS.Platform, arch: string): Promise<string> {
  const listed = listPackage(join(resources, 'app.asar'), { isPack: false }).map((file) => file.replaceAll('\\', '/'))
  const natives = listed.filter((file) => file.endsWith('.node'))
  if (natives.length === 0) throw new Error('the archive names no native package')
  const unpacked = join(resources, 'app.asar.unpacked')
  const missing = natives.filter((file) => !existsSync(join(unpacked, file)))
  if (missing.length > 0) throw new Error(`not unpacked from the archive: ${missing.join(', ')}`)
  const entries = await readdir(unpacked, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && /\.(node|dll|dylib|so)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  await checkArchitecture(files, platform, arch)
  return files.map((file) => relative(unpacked, file)).join(', ')
}

/** @throws Error that names the files of another machine */
export async function checkArchitecture(files: readonly string[], platform: string, arch: string): Promise<string> {
  const others: string[] = []
  for (const file of files) {
    const found = await machineCodeOf(file)
    if (found.platform !== platform || !found.architectures.includes(arch))
      others.push(`${file} is for ${found.platform} ${found.architectures.join('+')}`)
  }
  if (others.length > 0) throw new Error(`${others.join(', ')}, not for ${platform} ${arch}`)
  return `${platform} ${arch}`
}
