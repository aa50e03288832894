import { fork } from 'node:child_process'
import { GatheredMessages, messagesOf } from '../../../shared/media/gathered-messages.ts'
import type { ControlMessage } from '../../../shared/media/control-link.ts'
import { mediaEnvironment, permissionArguments } from './confinement.ts'
import type { SpawnMediaProcess } from './media-process.ts'

/**
 * Young objects have so many megabytes from the start. An attempt to call a camera lives for seconds: in the one megabyte that V8 begins with, hundreds of them are
 * copied again and again and then kept for long, and the collector takes a third of the process's time. Nor do they ever have more: on a large machine V8 takes up to 128 for
 * them after a busy moment, and never gives them back, where all else takes 25.
 */
export const youngMegabytes = 16

/** Options of V8 for the program of the embedded node. */
export const mediaProgramArguments: readonly string[] = [
  `--min-semi-space-size=${youngMegabytes}`,
  `--max-semi-space-size=${youngMegabytes}`,
]

/** Sets the limit of core dumps to 0, so that a crash writes no key of the site to disk, and becomes the program. */
const withoutDumps = 'ulimit -c 0; exec "$0" "$@"'

/**
 * Runs the program of the embedded node under this Node, confined.
 * @param program path of its file
 * @param readable files and folders besides its own code: the room page
 * @param recordings folder that it may write; it must exist when the program starts. Left out: none
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
    // Each of them: the second one without a listener would end the controller.
    child.on('error', (error) => {
      if (child.pid === undefined) exited(`it could not be started: ${error.message}`)
    })
    child.once('exit', (code, signal) =>
      exited(signal === null ? `it ended with exit code ${code ?? 0}` : `it was ended by ${signal}`),
    )
    const gathered = new GatheredMessages<ControlMessage>((message) => {
      // Between its end and the news of it a message finds nobody.
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
        child.on('message', (received) => messagesOf(received).forEach(listener))
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
