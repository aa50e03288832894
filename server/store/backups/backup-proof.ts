import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { belowOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { isProof, type Sealer } from '../sealer.ts'
import { eventsFolder, headName } from './backup-events.ts'
import { listFolder, replaceDurably } from '../files/durable-files.ts'
import type { BackupProof } from '../../../shared/domain/backups.ts'

/** File of a backup with the hashes of its other files. */
const proofName = 'proof.json'
const purpose = 'backup'

const fileSchema = z.strictObject({ path: z.string(), size: z.int().min(0), sha256: z.string() })
const manifestSchema = z.strictObject({ at: z.int(), files: z.array(fileSchema).max(10_000) })
const proofSchema = z.strictObject({ manifest: z.string(), mac: z.string() })
type ProvenFile = z.output<typeof fileSchema>

/**
 * Writes the proof of a backup: the hashes of its files, and an HMAC of these hashes with the site's key. The proof
 * includes every file of the state, and the seal of the event log. The seal proves the other files of the log.
 * @param at time of the backup, as in its name
 * @param marks names of files that may be added and removed: the proof leaves them out
 */
export async function proveBackup(
  path: string,
  at: number,
  sealer: Pick<Sealer, 'proof'>,
  marks: readonly string[],
): Promise<void> {
  const files: ProvenFile[] = []
  for (const file of await coveredFiles(path, marks)) files.push(await hashOf(path, file))
  const manifest = JSON.stringify({ at, files })
  await replaceDurably(join(path, proofName), `${JSON.stringify({ manifest, mac: sealer.proof(purpose, manifest) })}\n`)
}

/**
 * Checks that this site made a backup, and that the backup is unchanged.
 * @param contents true: reads every file; false: checks names and sizes only, for a list
 */
export async function proofOf(
  path: string,
  at: number,
  sealer: Pick<Sealer, 'proof'>,
  marks: readonly string[],
  contents: boolean,
): Promise<BackupProof> {
  let text: string
  try {
    text = await readFile(join(path, proofName), 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'missing'
    throw error
  }
  const manifest = provenManifest(text, sealer)
  if (manifest?.at !== at) return 'wrong'
  const there = await coveredFiles(path, marks)
  if (JSON.stringify(there) !== JSON.stringify(manifest.files.map((file) => file.path))) return 'wrong'
  for (const file of manifest.files) {
    const { size } = await stat(belowOf(path, file.path))
    if (size !== file.size) return 'wrong'
    if (contents && (await hashOf(path, file.path)).sha256 !== file.sha256) return 'wrong'
  }
  return 'good'
}

/** Returns the proof of a backup as text; empty: no proof. @throws errors of the file system */
export async function proofTextOf(path: string): Promise<string> {
  try {
    return await readFile(join(path, proofName), 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return ''
    throw error
  }
}

/**
 * Checks that this site made a proof, and that the proof is of a backup made at `at`. Does not read the files of the
 * backup.
 */
export function judgeProof(text: string, at: number, sealer: Pick<Sealer, 'proof'>): BackupProof {
  if (text === '') return 'missing'
  return provenManifest(text, sealer)?.at === at ? 'good' : 'wrong'
}

function provenManifest(text: string, sealer: Pick<Sealer, 'proof'>): z.output<typeof manifestSchema> | undefined {
  try {
    const { manifest, mac } = proofSchema.parse(JSON.parse(text))
    if (!isProof(mac, sealer.proof(purpose, manifest))) return undefined
    return manifestSchema.parse(JSON.parse(manifest))
  } catch {
    return undefined
  }
}

async function coveredFiles(path: string, marks: readonly string[]): Promise<string[]> {
  const besides = [...marks, proofName, eventsFolder]
  const files = (await listFolder(path)).filter((file) => !besides.includes(file))
  const events = await listFolder(join(path, eventsFolder))
  return [...files, ...(events.includes(headName) ? [`${eventsFolder}/${headName}`] : [])].sort()
}

async function hashOf(folder: string, path: string): Promise<ProvenFile> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(belowOf(folder, path)), hash)
  const { size } = await stat(belowOf(folder, path))
  return { path, size, sha256: hash.digest('base64url') }
}
