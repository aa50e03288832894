import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Configuration, Platform } from 'app-builder-lib'
import { Arch, archFromString } from 'builder-util'
import { type BuildOptions, build, type CliOptions, normalizeOptions } from 'electron-builder/out/builder.js'
import { parse } from 'yaml'
import { ensureBuild } from '../../scripts/ensure-build.mjs'
import { releaseNotes } from '../../scripts/release-notes.mjs'
import { readSigningKeys, signDescriptions } from './update-key.ts'
import { bringElectron } from './electron-archives.ts'
import { type InstallerTarget, missingTools, useToolsOf } from './installer-tools.ts'

const root = resolve(import.meta.dirname, '../..')
/** File of the release notes, which the app shows before it installs the release. */
const notesFile = 'dist/release-notes.md'

/** Flags of electron-builder's command, and our own. */
export interface PackageFlags extends CliOptions {
  /** Folder of Electron's archives and of the tools. */
  tools?: string
}

/**
 * Builds the app, brings Electron and the tools of the installers, lets electron-builder make them, and signs the descriptions of the release.
 * @param signWith files of the private keys that sign
 * @returns text for the operator
 * @throws Error with a sentence for each thing that is missing; UpdateKeyError; errors of the build and of electron-builder
 */
export async function makeInstallers({ tools, ...flags }: PackageFlags, signWith: readonly string[]): Promise<string> {
  process.chdir(root)
  const keys = readSigningKeys(signWith, root)
  if (tools !== undefined) useToolsOf(resolve(tools))
  await ensureBuild()
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  writeFileSync(notesFile, `${releaseNotes(readFileSync('CHANGELOG.md', 'utf8'), version)}\n`)
  const options = normalizeOptions(flags)
  const config = { ...(options.config as Configuration | undefined), releaseInfo: { releaseNotesFile: notesFile } }
  const described = parse(readFileSync('electron-builder.yml', 'utf8')) as Configuration
  const targets = targetsOf(options.targets ?? new Map<never, never>(), config, described)
  const electron = await electronOf(config, options, targets, resolve(tools ?? 'node_modules/.cache/electron'))
  const missing = [...electron.missing, ...(await missingTools(targets, described.toolsets ?? {}))]
  if (missing.length > 0)
    throw new Error(
      `Nothing was packaged:\n${missing.map((sentence) => `- ${sentence}\n`).join('')}All of it can come from a folder: --tools FOLDER fills it, and needs no network once it is full.`,
    )
  const begun = Date.now()
  const made = await build({ ...options, config: { ...config, electronDist: electron.folder } })
  return [...made, signDescriptions(resolve(config.directories?.output ?? 'release'), keys, root, begun)].join('\n')
}

/** An installer for one system. */
interface SystemTarget extends InstallerTarget {
  platform: Platform
}

/** Lists the installers to make, each with its processor: those of the command line, else those of electron-builder.yml. */
function targetsOf(
  asked: NonNullable<BuildOptions['targets']>,
  config: Configuration,
  described: Configuration,
): SystemTarget[] {
  return [...asked].flatMap(([platform, byArch]) => {
    const system = platform.buildConfigurationKey as 'linux' | 'mac' | 'win'
    const usual = [config[system]?.target ?? described[system]?.target ?? []].flat()
    const names = usual.map((target) => (typeof target === 'string' ? target : target.target))
    const archs = byArch.size > 0 ? [...byArch] : [[archFromString(process.arch), [] as string[]] as const]
    return archs.flatMap(([arch, given]) =>
      (given.length > 0 ? given : names).map((name) => ({ platform, name, arch })),
    )
  })
}

/** Finds the folder or archive with Electron: the one that a flag or variable names, else the folder into which it is fetched. */
async function electronOf(
  { electronDist }: Configuration,
  { prepackaged }: BuildOptions,
  targets: readonly SystemTarget[],
  folder: string,
): Promise<{ folder: NonNullable<Configuration['electronDist']> | null; missing: string[] }> {
  const unpacked = join(folder, 'electron')
  const named = electronDist ?? process.env.ELECTRON_OVERRIDE_DIST_PATH ?? (existsSync(unpacked) ? unpacked : undefined)
  if (named !== undefined || typeof prepackaged === 'string') return { folder: named ?? null, missing: [] }
  const systems = targets.flatMap(({ platform, arch }) =>
    (arch === Arch.universal ? ['x64', 'arm64'] : [Arch[arch]]).map((name) => `${platform.nodeName}-${name}`),
  )
  return { folder, missing: await bringElectron(folder, [...new Set(systems)]) }
}
