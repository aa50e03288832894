// Makes the packages of the server, in release/: a .deb (amd64) and a .tar.gz (Linux x64). Needs nothing but Node, on any system; what of the
// target is not installed it names. The same sources make the same bytes (SOURCE_DATE_EPOCH, else the time of the last commit).
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')

const usage = `Usage: npm run package:server -- [flags]
  --only deb|tar.gz   one of the two
  --revision N        of Debian's version: raise it when one version is packaged again (default 1)
  --compression N     0 (none) to 9 (default)
  --output DIR        default: release`

/** @returns {{ only?: string, revision: number, compression: number, output: string }} */
function readFlags() {
  const string = { type: 'string' }
  const { values } = parseArgs({
    options: { only: string, revision: string, compression: string, output: string, help: { type: 'boolean' } },
  })
  if (values.help) {
    console.log(usage)
    process.exit(0)
  }
  const whole = (text, from, to) => (/^\d{1,4}$/.test(text) && text >= from && text <= to ? Number(text) : undefined)
  const revision = whole(values.revision ?? '1', 1, 9_999)
  const compression = whole(values.compression ?? '9', 0, 9)
  const known = values.only === undefined || ['deb', 'tar.gz'].includes(values.only)
  if (revision === undefined || compression === undefined || !known) throw new TypeError('A flag has a wrong value.')
  return { only: values.only, revision, compression, output: values.output ?? join(root, 'release') }
}

let flags
try {
  flags = readFlags()
} catch (error) {
  console.error(`${error.message}\n${usage}`)
  process.exit(1)
}

try {
  const { ensureBuild } = await import('./ensure-build.mjs')
  await ensureBuild()
  const { describeRelease } = await import('../packaging/build/release.ts')
  const { debianFileName, debianPackage } = await import('../packaging/build/debian.ts')
  const { linuxArchive, linuxName } = await import('../packaging/build/linux.ts')
  const release = describeRelease(root, flags, process.env)
  const packages = {
    deb: { name: debianFileName(release), make: debianPackage },
    'tar.gz': { name: `${linuxName(release)}.tar.gz`, make: linuxArchive },
  }
  mkdirSync(flags.output, { recursive: true })
  for (const [kind, { name, make }] of Object.entries(packages)) {
    if (flags.only !== undefined && flags.only !== kind) continue
    const content = await make(release)
    const file = join(flags.output, name)
    writeFileSync(file, content)
    console.log(`${file}  ${(content.length / 1e6).toFixed(1)} MB`)
  }
} catch (error) {
  if (
    !['PartMissingError', 'LicenceMissingError'].includes(error.name) &&
    !error.message?.startsWith('The build failed')
  )
    throw error
  console.error(error.message)
  process.exitCode = 1
}
