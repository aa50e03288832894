import { getPath7za } from 'app-builder-lib/out/toolsets/7zip.js'
import { getAppImageTools, getFpmPath } from 'app-builder-lib/out/toolsets/linux.js'
import { getMakeNsisPath, getNsisElevatePath, getNsisPluginsPath } from 'app-builder-lib/out/toolsets/windows.js'
import { getWineToolset } from 'app-builder-lib/out/toolsets/wine.js'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Configuration } from 'app-builder-lib'
import type { Arch } from 'builder-util'

/** Kind of installer, as electron-builder names it, for one processor. */
export interface InstallerTarget {
  /** E.g. `deb`, `AppImage`, `nsis`. */
  name: string
  arch: Arch
}

/** Versions in electron-builder.yml of tools that come in several. */
export type Toolsets = NonNullable<Configuration['toolsets']>

/** Program that electron-builder does not bring, but fetches or finds by a variable of the environment. */
interface Tool {
  /** Its name and purpose, as the beginning of a sentence. */
  name: string
  /** Looks for it where electron-builder does, and fetches it. @throws Error without it */
  find: (arch: Arch, toolsets: Toolsets) => Promise<unknown>
  /** Instructions to provide it by hand. */
  provide: string
}

const fpm: Tool = {
  name: 'fpm, which makes the .deb,',
  find: async () => answersVersion(await getFpmPath()),
  provide: 'install it (gem install fpm) and set USE_SYSTEM_FPM=true, or set CUSTOM_FPM_PATH to the program',
}
const appImage: Tool = {
  name: 'The tools for AppImages (mksquashfs and a runtime)',
  find: (arch, toolsets) => getAppImageTools(toolsets.appimage ?? undefined, arch),
  provide: 'set APPIMAGE_TOOLS_PATH to a folder with mksquashfs, desktop-file-validate, runtimes/ and lib/',
}
const nsis: Tool = {
  name: 'NSIS, which makes the installer for Windows,',
  find: async (_arch, toolsets) => {
    const version = toolsets.nsis ?? undefined
    await getMakeNsisPath(version)
    await getNsisElevatePath(version)
    await getNsisPluginsPath(version)
  },
  provide: 'set ELECTRON_BUILDER_NSIS_DIR to its folder and ELECTRON_BUILDER_NSIS_RESOURCES_DIR to that of its plugins',
}
const sevenZip: Tool = {
  name: '7za, which packs what an installer holds,',
  find: () => getPath7za(),
  provide: 'set ELECTRON_BUILDER_7ZIP_PATH to the program',
}
const wine: Tool = {
  name: 'Wine, which runs the installer once to write its uninstaller,',
  find: async (_arch, toolsets) => answersVersion((await getWineToolset(toolsets.wine ?? undefined)).execPath),
  provide: 'make the installer on Windows, or set ELECTRON_BUILDER_WINE_TOOLSET_DIR to a folder with bin/wine',
}

/** electron-builder takes a program of the PATH without a look. @throws Error if it does not start */
function answersVersion(program: string): void {
  const { error } = spawnSync(program, ['--version'], { stdio: 'ignore', shell: process.platform === 'win32' })
  if (error) throw error
}

/** Tools by the kinds of installers that need them; others need none, or what their system brings. */
function toolsOf({ name }: InstallerTarget): Tool[] {
  switch (name) {
    case 'deb':
    case 'rpm':
    case 'pacman':
      return [fpm]
    case 'AppImage':
      return [appImage]
    case 'nsis':
      return process.platform === 'win32' ? [nsis, sevenZip] : [nsis, sevenZip, wine]
    case 'zip':
    case '7z':
      return [sevenZip]
    default:
      return []
  }
}

/** Names of tools in a folder of tools, and the variables by which electron-builder finds such. */
const variables = {
  fpm: 'CUSTOM_FPM_PATH',
  appimage: 'APPIMAGE_TOOLS_PATH',
  '7za': 'ELECTRON_BUILDER_7ZIP_PATH',
  nsis: 'ELECTRON_BUILDER_NSIS_DIR',
  'nsis-resources': 'ELECTRON_BUILDER_NSIS_RESOURCES_DIR',
  wine: 'ELECTRON_BUILDER_WINE_TOOLSET_DIR',
  dmgbuild: 'CUSTOM_DMGBUILD_PATH',
} as const

/** Lets electron-builder use the tools of a folder, and keep there what it fetches. Variables that are set already stay. */
export function useToolsOf(folder: string, environment: NodeJS.ProcessEnv = process.env): void {
  environment.ELECTRON_BUILDER_CACHE = folder
  for (const [name, variable] of Object.entries(variables)) {
    const path = join(folder, name)
    if (existsSync(path)) environment[variable] ??= path
  }
}

/**
 * Finds or fetches the tools of all targets at once.
 * @returns a sentence for each that is missing: why, and how to provide it
 */
export async function missingTools(targets: readonly InstallerTarget[], toolsets: Toolsets): Promise<string[]> {
  const needed = new Map<Tool, Arch>()
  for (const target of targets) for (const tool of toolsOf(target)) needed.set(tool, target.arch)
  const sentences = [...needed].map(async ([{ name, find, provide }, arch]) => {
    try {
      await find(arch, toolsets)
      return []
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return [`${name} is neither here nor can it be fetched (${reason.split('\n')[0]}): ${provide}.`]
    }
  })
  return (await Promise.all(sentences)).flat()
}
