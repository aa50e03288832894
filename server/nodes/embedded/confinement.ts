import { basename, dirname, join, resolve } from 'node:path'

/** Environment variables that the media program needs. None of them contains a secret. */
const passedVariables = [
  'PATH',
  'LANG',
  'TMPDIR',
  'TEMP',
  'TZ',
  'SystemRoot',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
] as const

/**
 * Size of libuv's thread pool in the media program. Hundreds of recordings are synced to disk in parallel, which disks
 * handle efficiently.
 */
export const mediaThreads = { UV_THREADPOOL_SIZE: '24' } as const

/** Returns the environment of the media program: only the variables that it needs. */
export function mediaEnvironment(from: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const passed = passedVariables.flatMap((name) => {
    const value = from[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(passed), ...mediaThreads }
}

/**
 * Returns arguments of Node.js that restrict the media program. The program may read its own code and `folders`, write
 * only recordings, and start no program. Native code is not restricted by Node's permissions (Node.js documentation,
 * "Permission Model").
 * @param program path of its file
 * @param recordings folder that the program may read and write, and that exists when the program starts; empty: none
 */
export function permissionArguments(program: string, folders: readonly string[], recordings = ''): string[] {
  const home = dirname(resolve(program))
  const ancestors: string[] = []
  for (let folder = home; ; folder = dirname(folder)) {
    ancestors.push(folder)
    if (dirname(folder) === folder) break
  }
  // The built program is in `server/`; the source is in a subfolder of it.
  const server = ancestors.find((folder) => basename(folder) === 'server') ?? home
  const code = [server, join(server, '../shared')]
  const packages = ancestors.flatMap((folder) => [join(folder, 'node_modules'), join(folder, 'package.json')])
  const readable = [
    ...code,
    ...packages,
    ...[...folders, recordings].filter((folder) => folder !== '').map((folder) => resolve(folder)),
  ]
  return [
    '--permission',
    '--allow-addons',
    '--disable-warning=PERM0001',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...(recordings === '' ? [] : [`--allow-fs-write=${resolve(recordings)}`]),
  ]
}
