// Runs `vite build` for commands that need `dist`, only where it is missing or stale, and in one process at a time.
// Sizes and times answer in milliseconds; contents decide when those differ.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { inputFiles, inputFolders } from './build-inputs.mjs'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const stampFile = join(dist, '.stamp.json')
const lockFolder = join(dist, '.lock')
const lockOwner = join(lockFolder, 'pid')
/** The longest that anybody waits for somebody else's build. */
const lockDeadlineMs = 5 * 60_000

/** @param {string} path */
const isGone = (path) => !statSync(path, { throwIfNoEntry: false })

/** Every file that the build reads, in a fixed order. */
function sources() {
  const found = []
  for (const folder of inputFolders) {
    if (isGone(join(root, folder))) continue
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) found.push(join(entry.parentPath, entry.name))
    }
  }
  for (const file of inputFiles) found.push(join(root, file))
  return found.sort()
}

/** @returns {{quick: string, content: () => string}} fingerprints of the sources: by size and time, and by content */
function fingerprint() {
  const paths = sources()
  const quick = createHash('sha256')
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false })
    quick.update(`${path}\0${stat?.size}\0${stat?.mtimeMs}\n`)
  }
  const content = () => {
    const hash = createHash('sha256')
    for (const path of paths) hash.update(`${path.slice(root.length)}\0`).update(isGone(path) ? '' : readFileSync(path))
    return hash.digest('base64url')
  }
  return { quick: quick.digest('base64url'), content }
}

/** @returns {{quick?: string, content?: string}} what the last build was made of; empty when there was none */
function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'))
  } catch {
    return {}
  }
}

/** @param {{quick: string, content: string}} stamp */
function writeStamp(stamp) {
  writeFileSync(`${stampFile}.${process.pid}`, JSON.stringify(stamp))
  renameSync(`${stampFile}.${process.pid}`, stampFile)
}

/** True when `dist` was made from the sources as they are. */
function isFresh() {
  const stamp = readStamp()
  if (!stamp.quick) return false
  const now = fingerprint()
  if (now.quick === stamp.quick) return true
  const content = now.content()
  if (content !== stamp.content) return false
  writeStamp({ quick: now.quick, content })
  return true
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Removes the lock of a process that died while it built. */
function breakStaleLock() {
  let owner = Number.NaN
  try {
    owner = Number(readFileSync(lockOwner, 'utf8'))
  } catch {
    // Between the folder and its file there is a moment without an owner.
    const stat = statSync(lockFolder, { throwIfNoEntry: false })
    if (!stat || Date.now() - stat.mtimeMs < 2_000) return
  }
  if (!isAlive(owner)) rmSync(lockFolder, { recursive: true, force: true })
}

/** Waits for the lock, or for somebody else's build to make `dist` fresh. @returns {Promise<boolean>} true when it holds the lock */
async function lock() {
  const end = Date.now() + lockDeadlineMs
  mkdirSync(dist, { recursive: true })
  while (Date.now() < end) {
    try {
      mkdirSync(lockFolder)
      writeFileSync(lockOwner, String(process.pid))
      return true
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    breakStaleLock()
    await sleep(100)
    if (isGone(lockFolder) && isFresh()) return false
  }
  throw new Error(`Another build holds ${lockFolder} for too long; delete it if no build is running.`)
}

/** Runs Vite; everything it says goes to stderr, so that stdout stays the caller's own. */
function runVite() {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const arguments_ = [vite, 'build', '--app', '--config', join(root, 'vite.config.ts'), '--logLevel', 'warn']
  const child = spawn(process.execPath, arguments_, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`The build failed (exit code ${code}).`))))
  })
}

/**
 * Makes `dist` fresh.
 * @param {{force?: boolean}} [options] force: build although it is fresh
 * @returns {Promise<boolean>} whether it built
 */
export async function ensureBuild({ force = false } = {}) {
  if (!force && isFresh()) return false
  if (!(await lock())) return false
  try {
    if (!force && isFresh()) return false
    console.error('Building Roomdesk …')
    const before = fingerprint()
    const stamp = { quick: before.quick, content: before.content() }
    rmSync(stampFile, { force: true })
    for (const folder of ['server', 'main', 'renderer', 'room-page', '.packages'])
      rmSync(join(dist, folder), { recursive: true, force: true })
    await runVite()
    const { writeLicences } = await import('../packaging/licences/write-licences.ts')
    writeLicences(root)
    writeStamp(stamp)
    return true
  } finally {
    rmSync(lockFolder, { recursive: true, force: true })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await ensureBuild({ force: process.argv.includes('--force') })
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
