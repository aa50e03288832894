// One app per user data folder: the first holds a file with its pid, a second one writes its arguments there and exits.
import { readFileSync, rmSync, watch, writeFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Gives the lock back. */
let release = () => {}

const note = /^second-instance-\d+\.json$/

/** @returns {boolean} true for the first */
export function claimInstance(folder, onSecond) {
  const lock = join(folder, 'standin-instance.pid')
  if (isAlive(readPid(lock))) {
    const content = JSON.stringify({ argv: process.argv, folder: process.cwd() })
    writeFileSync(join(folder, `second-instance-${process.pid}.json`), content)
    return false
  }
  writeFileSync(lock, String(process.pid))
  const remove = () => readPid(lock) === process.pid && rmSync(lock, { force: true })
  process.once('exit', remove)
  const watcher = watch(folder, { persistent: false }, () => {
    for (const name of readdirSync(folder).filter((file) => note.test(file))) {
      try {
        const second = JSON.parse(readFileSync(join(folder, name), 'utf8'))
        rmSync(join(folder, name))
        onSecond(second.argv, second.folder)
      } catch {
        // Partially written: the watcher gets another event.
      }
    }
  })
  release = () => {
    watcher.close()
    remove()
  }
  return true
}

export function releaseInstance() {
  release()
}

function readPid(path) {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch {
    return 0
  }
}

function isAlive(pid) {
  if (pid === 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
