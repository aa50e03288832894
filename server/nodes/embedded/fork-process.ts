import { fork } from 'node:child_process'
import { basename, dirname, join, resolve } from 'node:path'
import { type ControlMessage, GatheredMessages } from '../../../shared/media/control-link.ts'
import { KeptMessages, type SpawnMediaProcess } from './media-process.ts'

/**
 * Size of V8's semi-space for young objects, in megabytes, both minimum and maximum. An attempt to connect to a camera
 * lives for seconds. With V8's initial megabyte, the objects of hundreds of attempts are copied repeatedly and then
 * promoted. Garbage collection then takes a third of the CPU time. The maximum matters on large machines: after a load
 * peak, V8 uses up to 128 MB permanently, while everything else uses 25 MB.
 */
export const youngMegabytes = 16

/** Options of V8 for the program of the embedded node. */
export const mediaProgramArguments: readonly string[] = [
  `--min-semi-space-size=${youngMegabytes}`,
  `--max-semi-space-size=${youngMegabytes}`,
]

/** Disables core dumps, so that a crash writes no key of the site to disk, and then executes the program. */
const withoutDumps = 'ulimit -c 0; exec "$0" "$@"'

/**
 * Returns a function that starts the program of the embedded node in this Node.js version, with restricted permissions.
 * @param program path of its file
 * @param readable further files and folders that the program may read: the room page
 * @param recordings folder that the program may write, and that exists when the program starts; left out: none
 */
export function forkMediaProcess(
  program: string,
  readable: readonly string[] = [],
  recordings = '',
): SpawnMediaProcess {
  return () => {
    const node = [...mediaProgramArguments, ...permissionArguments(program, readable, recordings)]
    const shell = process.platform !== 'win32'
    // Output goes to stderr: stdout belongs to the controller.
    const child = fork(program, [], {
      ...(shell && { execPath: '/bin/sh' }),
      execArgv: shell ? ['-c', withoutDumps, process.execPath, ...node] : node,
      env: mediaEnvironment(),
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    let reportExit: (why: string) => void = () => {}
    const exited = (why: string): void => {
      reportExit(why)
      reportExit = () => {}
    }
    // Listens to all errors: an `error` event without a listener would end the controller.
    child.on('error', (error) => {
      if (child.pid === undefined) exited(`it could not be started: ${error.message}`)
    })
    child.once('exit', (code, signal) =>
      exited(signal === null ? `it ended with exit code ${code ?? 0}` : `it was ended by ${signal}`),
    )
    const received = new KeptMessages()
    child.on('message', (message: unknown) => received.receive(message))
    const gathered = new GatheredMessages<ControlMessage>((message) => {
      // The process may have ended before its exit event.
      if (child.connected) child.send(message, () => {})
    })
    return {
      get pid() {
        return child.exitCode === null && child.signalCode === null ? child.pid : undefined
      },
      send(message) {
        gathered.send(message)
      },
      onMessage(listener) {
        received.listen(listener)
      },
      onExit(listener) {
        reportExit = listener
      },
      kill() {
        child.kill('SIGKILL')
      },
    }
  }
}

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
