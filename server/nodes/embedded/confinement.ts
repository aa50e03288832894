import { basename, dirname, join, resolve } from 'node:path'

/** Variables that the media program needs; none of them holds a secret. */
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

/** Threads of libuv in the media program: recordings of hundreds of streams wait for their syncs side by side, which a disk then does at once. */
export const mediaThreads = { UV_THREADPOOL_SIZE: '24' } as const

/** The environment of the media program: the variables that it needs, and none of the controller's own. */
export function mediaEnvironment(from: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const passed = passedVariables.flatMap((name) => {
    const value = from[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(passed), ...mediaThreads }
}

/**
 * Arguments of Node that let the media program read its own code and these folders, write only the recordings, and start no program.
 * Native code is outside Node's permissions (Node.js documentation, "Permission Model").
 * @param program path of its file
 * @param recordings folder that it may write, and read; it must exist when the program starts. Empty: none
 */
export function permissionArguments(program: string, folders: readonly string[], recordings = ''): string[] {
  const home = dirname(resolve(program))
  const ancestors: string[] = []
  for (let folder = home; ; folder = dirname(folder)) {
    ancestors.push(folder)
    if (dirname(folder) === folder) break
  }
  // As built, the program is in `server/`; as written, in a folder of it.
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
