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

/** System and processor for which an installer is needed. */
export interface UpdateTarget {
  platform: NodeJS.Platform
  arch: string
  /** Whether the app runs from an AppImage. */
  isAppImage: boolean
}

/**
 * Release signed by a key of the publisher and newer than the running app. Only `readRelease` creates values of this
 * type, so no other release can be downloaded or installed.
 */
export interface VerifiedRelease {
  readonly [verified]: true
  version: string
  notes: string
  /** Name of the release's installer at the source. */
  file: string
  /** SHA-512 of the installer, in base64. */
  sha512: string
  /** Size of the installer, in bytes. */
  size: number
}

/** Fields read from electron-builder's `latest*.yml`. */
const description = z.object({
  version: z.string(),
  files: z.array(z.object({ url: z.string(), sha512: z.string(), size: z.int().positive() })).max(100),
  releaseNotes: z.string().nullish(),
})

/** Returns the name of the description file of a release, as electron-builder names it. */
function descriptionFile({ platform, arch }: Pick<UpdateTarget, 'platform' | 'arch'>): string {
  if (platform === 'win32') return 'latest.yml'
  if (platform === 'darwin') return 'latest-mac.yml'
  return arch === 'x64' ? 'latest-linux.yml' : `latest-linux-${arch}.yml`
}

/** Version of the running app, and the keys that may sign its updates. */
export interface RunningApp {
  version: string
  keys: readonly KeyObject[]
}

/**
 * Reads the release offered by a source. Parses the description only after verifying its signature.
 * @returns undefined if the release is not newer than the running app: an old release with a valid signature is not
 * installed
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
  // Only files beside the description are accepted: a path could overwrite any file.
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

/** Whether a file is for this processor. Names of files for a specific processor contain its name. */
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
