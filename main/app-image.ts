import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Environment variables with lists of paths, to which AppRun adds folders of the mount point (app-builder-lib,
 * `generateAppRunScript`).
 */
const folderLists = ['PATH', 'LD_LIBRARY_PATH', 'XDG_DATA_DIRS', 'GSETTINGS_SCHEMA_DIR']
/** Variables that the runtime of an AppImage sets for each start. */
const runtimeVariables = ['APPDIR', 'APPIMAGE', 'ARGV0', 'OWD']

/**
 * Returns the environment that the AppImage was started with: without the AppImage runtime's variables and without the
 * folders of its mount point, which is removed when the app exits.
 */
export function environmentOutside(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { APPDIR } = environment
  const next = Object.entries(environment).flatMap(([name, value]) => {
    if (runtimeVariables.includes(name)) return []
    if (APPDIR === undefined || value === undefined || !folderLists.includes(name)) return [[name, value] as const]
    const folders = value.split(':').filter((folder) => folder !== '' && !isWithin(folder, APPDIR))
    // A list that contains only folders of the mount point is omitted: AppRun adds the system's folders at each start.
    return folders.length === 0 ? [] : [[name, [...new Set(folders)].join(':')] as const]
  })
  return Object.fromEntries(next)
}

/**
 * Starts an AppImage as a separate process. Resolves when the process runs. `app.relaunch` cannot do this: its helper
 * process runs from the mount point of this app.
 * @throws errors of `spawn`, e.g. if the file is missing
 */
export async function startAppImage(
  file: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const child = spawn(file, args, {
    cwd: folderOutside(environment.APPDIR),
    detached: true,
    stdio: 'ignore',
    env: environmentOutside(environment),
  })
  await once(child, 'spawn')
  child.unref()
}

/**
 * Returns the current working directory, to which relative arguments refer. Returns `/` if the directory was deleted or
 * is inside the mount point, which is removed when this app exits.
 */
function folderOutside(mount: string | undefined): string {
  try {
    const folder = process.cwd()
    return mount !== undefined && isWithin(folder, mount) ? '/' : folder
  } catch {
    // The directory was deleted.
    return '/'
  }
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
