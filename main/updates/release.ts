import type { KeyObject } from 'node:crypto'
import { gt, valid } from 'semver'
import { parse } from 'yaml'
import { z } from 'zod'
import { isPathPart } from '../../shared/files/own-path.ts'
import { readSignedDescription, type SignedDescription } from './signed-description.ts'
import { UpdateProblem } from './update-problem.ts'
import type { UpdateSource } from './update-source.ts'

declare const verified: unique symbol

/** Maximum size of the notes, in characters. */
const maxNotes = 20_000

/** System that an installer is for. */
export interface UpdateTarget {
  platform: NodeJS.Platform
  arch: string
  /** The app runs from an AppImage. */
  isAppImage: boolean
}

/** Release that a key of the publisher signed and that is newer than the running app. Only `readRelease` makes one, so nothing else can be fetched or installed. */
export interface VerifiedRelease {
  readonly [verified]: true
  version: string
  notes: string
  /** Name of its installer at the source. */
  file: string
  /** SHA-512 of the installer, in base64. */
  sha512: string
  /** In bytes. */
  size: number
}

/** Fields of electron-builder's `latest*.yml` that are used. */
const description = z.object({
  version: z.string(),
  files: z.array(z.object({ url: z.string(), sha512: z.string(), size: z.int().positive() })).max(100),
  releaseNotes: z.string().nullish(),
})

/** Name of the description, as electron-builder writes it. */
function descriptionFile({ platform, arch }: Pick<UpdateTarget, 'platform' | 'arch'>): string {
  if (platform === 'win32') return 'latest.yml'
  if (platform === 'darwin') return 'latest-mac.yml'
  return arch === 'x64' ? 'latest-linux.yml' : `latest-linux-${arch}.yml`
}

/** App that a release is compared with. */
export interface RunningApp {
  version: string
  /** Public keys of its publisher. */
  keys: readonly KeyObject[]
}

/**
 * Reads which release a source offers. Nothing of its description is looked at before its signature was verified.
 * @returns undefined if it is not newer than the running app: an old release with its valid signature replaces nothing
 * @throws UpdateProblem
 */
export async function readRelease(
  source: UpdateSource,
  target: UpdateTarget,
  app: RunningApp,
): Promise<VerifiedRelease | undefined> {
  const name = descriptionFile(target)
  const found = description.safeParse(readYaml(await readSignedDescription(source, name, app.keys), name))
  if (!found.success || valid(found.data.version) === null) throw new UpdateProblem('malformed', name)
  const { version, files, releaseNotes } = found.data
  if (!gt(version, app.version)) return undefined
  const ending = endingFor(target)
  const file = files.find(({ url }) => url.endsWith(ending) && fits(url, target.arch))
  if (file === undefined) throw new UpdateProblem('noInstaller', `${name}: ${ending}`)
  // Only a file beside the description: a path could overwrite anything.
  if (!isPathPart(file.url) || file.url.startsWith('.')) throw new UpdateProblem('malformed', name)
  return {
    version,
    notes: (releaseNotes ?? '').slice(0, maxNotes),
    file: file.url,
    sha512: file.sha512,
    size: file.size,
  } as VerifiedRelease
}

function endingFor({ platform, isAppImage }: UpdateTarget): string {
  if (platform === 'win32') return '.exe'
  if (platform === 'darwin') return '.dmg'
  return isAppImage ? '.AppImage' : '.deb'
}

/** Files for another processor name it. */
function fits(url: string, arch: string): boolean {
  const named = /[-_](x64|x86_64|amd64|arm64|aarch64|ia32|universal)\b/.exec(url)?.[1]
  if (named === undefined || named === 'universal') return true
  return (arch === 'arm64' ? ['arm64', 'aarch64'] : ['x64', 'x86_64', 'amd64']).includes(named)
}

function readYaml(bytes: SignedDescription, name: string): unknown {
  try {
    return parse(bytes.toString('utf8'), { maxAliasCount: 0 })
  } catch (cause) {
    throw new UpdateProblem('malformed', name, cause)
  }
}
