import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { notesFolder } from './note-packages.ts'

/** Somebody else's software that is part of the product. */
export interface ThirdParty {
  name: string
  version: string
  /** As its package names it: an SPDX expression, mostly. */
  licence: string
  /** URL of its source. */
  source: string
  /** Everything that its licence wants passed on, whole. */
  text: string
}

/** A licence cannot be told; the message says of what, and what to do. */
export class LicenceMissingError extends Error {
  override readonly name: string = 'LicenceMissingError'
}

const person = z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]).optional()
const description = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
  author: person,
  homepage: z.string().optional(),
  repository: z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)]).optional(),
})
type Description = z.output<typeof description>

const lockFile = z.object({
  packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })),
})
const notes = z.array(z.string())

const textsFolder = join(import.meta.dirname, 'texts')
const licenceFile = /^(licen[cs]e|copying|notice|copyrightnotice)/i

/**
 * Parts of packages that no package file names: libraries linked into the native binary of node-datachannel (versions: its CMakeLists.txt, and the binary's
 * own), those of the background blur, and the service wrapper of node-windows.
 */
export const linkedIn: readonly { name: string; version: string; licence: string; source: string; text: string }[] = [
  {
    name: 'libdatachannel',
    version: '0.24.5',
    licence: 'MPL-2.0',
    source: 'https://github.com/paullouisageneau/libdatachannel',
    text: 'node-datachannel',
  },
  {
    name: 'libjuice',
    version: 'as of libdatachannel 0.24.5',
    licence: 'MPL-2.0',
    source: 'https://github.com/paullouisageneau/libjuice',
    text: 'node-datachannel',
  },
  {
    name: 'usrsctp',
    version: 'as of libdatachannel 0.24.5',
    licence: 'BSD-3-Clause',
    source: 'https://github.com/sctplab/usrsctp',
    text: 'usrsctp.txt',
  },
  {
    name: 'libsrtp',
    version: 'as of libdatachannel 0.24.5',
    licence: 'BSD-3-Clause',
    source: 'https://github.com/cisco/libsrtp',
    text: 'libsrtp.txt',
  },
  {
    name: 'plog',
    version: 'as of libdatachannel 0.24.5',
    licence: 'MIT',
    source: 'https://github.com/SergiusTheBest/plog',
    text: 'plog.txt',
  },
  {
    name: 'OpenSSL',
    version: '1.1.1w',
    licence: 'OpenSSL',
    source: 'https://www.openssl.org/source/',
    text: 'openssl-1.1.1.txt',
  },
  {
    name: 'TensorFlow Lite',
    version: 'as of @twilio/video-processors 3.2.0',
    licence: 'Apache-2.0',
    source: 'https://github.com/tensorflow/tensorflow',
    text: 'apache-2.0.txt',
  },
  {
    name: 'MediaPipe Selfie Segmentation',
    version: 'as of @twilio/video-processors 3.2.0',
    licence: 'Apache-2.0',
    source: 'https://github.com/google-ai-edge/mediapipe',
    text: 'apache-2.0.txt',
  },
  {
    name: 'WinSW',
    version: '1.17, as of node-windows 0.1.14',
    licence: 'MIT',
    source: 'https://github.com/winsw/winsw',
    text: 'winsw.txt',
  },
]

/** Packages that the code of node-windows needs, of which the product has only WinSW. */
const notShipped = /^node_modules\/(optimist|wordwrap|xml)(\/|$)/

/**
 * Everything of others that the builds in `dist` read, that production depends on, and that came compiled into it.
 * @param root of the project, with its packages installed
 * @throws LicenceMissingError
 */
export function thirdParties(root: string, dist: string): ThirdParty[] {
  const folders = [...new Set([...bundled(dist), ...production(root)])].filter((folder) =>
    existsSync(join(root, folder, 'package.json')),
  )
  const packages = folders.map((folder) => ({ folder, about: describe(root, folder) }))
  const found = packages.map(({ folder, about }): ThirdParty => {
    const licence = about.license
    if (licence === undefined) throw new LicenceMissingError(`${folder}/package.json names no licence.`)
    const text = ownText(root, folder) ?? textOfRepository(root, about, packages) ?? standardText(about)
    if (text === undefined)
      throw new LicenceMissingError(
        `${folder} (${licence}) holds no licence text: put the text of its licence into packaging/licences/texts/${licence}.txt.`,
      )
    return { name: about.name, version: about.version, licence, source: source(about), text }
  })
  const native = found.find(({ name }) => name === 'node-datachannel')
  const linked = linkedIn.map(({ text, ...rest }): ThirdParty => {
    const whole = text === native?.name ? native.text : readFileSync(join(textsFolder, text), 'utf8')
    return { ...rest, text: whole }
  })
  // Two copies of one version are one.
  const unique = new Map([...found, ...linked].map((party) => [`${party.name}@${party.version}`, party]))
  return [...unique.values()].sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version))
}

/** Orders by code point: the same on every machine, whatever its language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Reads the notes of the builds. */
function bundled(dist: string): string[] {
  const folder = join(dist, notesFolder)
  return readdirSync(folder).flatMap((file) => notes.parse(JSON.parse(readFileSync(join(folder, file), 'utf8'))))
}

/** Lists the lock file's packages for production. Of the packages for other systems, only those of this one are installed. */
function production(root: string): string[] {
  const { packages } = lockFile.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
  return Object.entries(packages).flatMap(([folder, { dev }]) =>
    folder === '' || dev === true || notShipped.test(folder) ? [] : [folder],
  )
}

function describe(root: string, folder: string): Description {
  return description.parse(JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')))
}

/** The licence files of a package, one behind the other. */
function ownText(root: string, folder: string): string | undefined {
  const files = readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && licenceFile.test(entry.name))
    .map(({ name }) => name)
    .sort()
  if (files.length === 0) return undefined
  return files.map((name) => readFileSync(join(root, folder, name), 'utf8')).join('\n\n')
}

/** The natives of a package are published without its licence, from the same repository. */
function textOfRepository(
  root: string,
  about: Description,
  packages: readonly { folder: string; about: Description }[],
): string | undefined {
  if (about.repository === undefined) return undefined
  for (const other of packages) {
    if (other.about.repository !== about.repository || other.about.license !== about.license) continue
    const text = ownText(root, other.folder)
    if (text !== undefined) return text
  }
  return undefined
}

/** For a package that only names its licence. */
function standardText({ license, author, name }: Description): string | undefined {
  const file = join(textsFolder, `${license}.txt`)
  if (!existsSync(file)) return undefined
  return `Copyright (c) ${author ?? `the authors of ${name}`}\n\n${readFileSync(file, 'utf8')}`
}

function source({ repository, homepage, name }: Description): string {
  if (repository === undefined) return homepage ?? `https://www.npmjs.com/package/${name}`
  const address = repository
    .replace(/^git\+/, '')
    .replace(/^git:/, 'https:')
    .replace(/\.git$/, '')
  return /^[\w-]+\/[\w.-]+$/.test(address)
    ? `https://github.com/${address}`
    : address.replace(/^github:/, 'https://github.com/')
}
