// Fetches Electron's binary with progress, and installs it; says why it cannot, and what to do. Exit code 0: it is there, whole.
// Usage: node scripts/fetch-electron.mjs [folder of the package electron]
// With --into FOLDER [--platform PLATFORM --arch ARCH] it installs nothing, and copies the archive for that system into the folder.
import { downloadArtifact } from '@electron/get'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { electronHome, installedProgram } from './electron-program.mjs'

const string = { type: 'string' }
const { values, positionals } = parseArgs({
  options: { into: string, platform: string, arch: string },
  allowPositionals: true,
})
const home = positionals[0] ?? electronHome
/** How long nothing may come before the download is given up, in milliseconds. */
const stallMs = Number(process.env.ROOMDESK_FETCH_STALL_MS ?? 60_000)
const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))

const megabytes = (bytes) => (bytes / 1e6).toFixed(0)

/** Tells the progress: in one line on a terminal, else each tenth. */
function progressTeller() {
  let told = -1
  return ({ transferred, total, percent }) => {
    const step = Math.floor(percent * (process.stderr.isTTY ? 100 : 10))
    if (step === told) return
    told = step
    const of = total ? ` of ${megabytes(total)}` : ''
    const line = `Electron ${version}: ${megabytes(transferred)}${of} MB`
    process.stderr.write(process.stderr.isTTY ? `\r${line}${percent >= 1 ? '\n' : ''}` : `${line}\n`)
  }
}

/** @returns {Promise<string>} path of the archive in the cache of @electron/get, its checksum compared */
async function download() {
  const stalled = new AbortController()
  const giveUp = () => stalled.abort(new Error(`nothing came for ${stallMs / 1_000} s`))
  let timer = setTimeout(giveUp, stallMs)
  const tell = progressTeller()
  try {
    return await downloadArtifact({
      version,
      artifactName: 'electron',
      ...(values.platform && { platform: values.platform }),
      ...(values.arch && { arch: values.arch }),
      cacheRoot: process.env.electron_config_cache,
      checksums: process.env.electron_use_remote_checksums
        ? undefined
        : JSON.parse(readFileSync(join(home, 'checksums.json'), 'utf8')),
      downloadOptions: {
        quiet: true,
        signal: stalled.signal,
        getProgressCallback: (progress) => {
          clearTimeout(timer)
          timer = setTimeout(giveUp, stallMs)
          tell(progress)
        },
      },
    })
  } finally {
    clearTimeout(timer)
  }
}

/** The reason in the words of whoever has to mend it. */
function reasonOf(error) {
  const { cause, message } = error
  if (/checksum/i.test(message)) return 'what came is damaged, or was changed on the way (its checksum differs)'
  const inner = cause?.code ?? cause?.errors?.[0]?.code
  if (inner) return `the server cannot be reached (${inner})`
  return message
}

/** Copies it whole or not at all: a copy that ends early has another name. */
function copyInto(folder, archive) {
  mkdirSync(folder, { recursive: true })
  const target = join(folder, basename(archive))
  copyFileSync(archive, `${target}.part`)
  renameSync(`${target}.part`, target)
}

function install() {
  // Finds it in the cache, and extracts it.
  const { status } = spawnSync(process.execPath, [join(home, 'install.js')], { stdio: ['ignore', 2, 2] })
  if (status !== 0 || !installedProgram(home)) throw new Error('it could not be extracted')
}

try {
  const archive = await download()
  if (values.into === undefined) install()
  else copyInto(values.into, archive)
} catch (error) {
  const lines = [
    `Electron's binary could not be fetched: ${reasonOf(error)}.`,
    'Behind a proxy set HTTPS_PROXY. Where GitHub cannot be reached, set ELECTRON_MIRROR to a mirror of its releases (a URL that ends with /).',
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(1)
}
