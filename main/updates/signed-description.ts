import { type KeyObject, verify } from 'node:crypto'
import { UpdateProblem } from './update-problem.ts'
import type { UpdateSource } from './update-source.ts'
import { execFile } from 'node:child_process'
import { win32 } from 'node:path/posix'
import { promisify } from 'node:util'
import { z } from 'zod'

declare const signed: unique symbol

/**
 * Bytes of a release description signed by a key of the publisher. Only `proveDescription` creates values of this type,
 * so no other bytes can be parsed as a release.
 */
export type SignedDescription = Buffer & { readonly [signed]: true }

/** Suffix of the file with the signatures, beside the description. */
export const signatureEnding = '.sig'

/** Maximum sizes of a release description and of its signatures, in bytes. */
const maxDescription = 256 * 1024
const maxSignatures = 4 * 1024

/** An Ed25519 signature (64 bytes) in base64. */
const signatureLine = /^[\w+/]{86}==$/

/** Reads a description and its signatures. @throws UpdateProblem */
export async function readSignedDescription(
  source: UpdateSource,
  name: string,
  keys: readonly KeyObject[],
): Promise<SignedDescription> {
  const bytes = await readAtMost(source, name, maxDescription)
  const signatures = await readSignatures(source, `${name}${signatureEnding}`)
  return proveDescription(bytes, signatures, keys, name)
}

/**
 * Verifies that a key of the publisher signed these bytes.
 * @param signatures in base64, one per line: while the publisher changes its key, each release has a signature of the
 * old and one of the new key
 * @throws UpdateProblem
 */
export function proveDescription(
  bytes: Buffer,
  signatures: string,
  keys: readonly KeyObject[],
  name: string,
): SignedDescription {
  if (keys.length === 0) throw new UpdateProblem('noKey')
  const lines = signatures.split('\n').map((line) => line.trim())
  const found = lines.filter((line) => signatureLine.test(line)).map((line) => Buffer.from(line, 'base64'))
  if (found.length === 0) throw new UpdateProblem('notSigned', `${name}${signatureEnding}`)
  const isSigned = found.some((signature) => keys.some((key) => verify(null, bytes, key, signature)))
  if (!isSigned) throw new UpdateProblem('otherKey', name)
  return bytes as SignedDescription
}

async function readSignatures(source: UpdateSource, name: string): Promise<string> {
  try {
    return (await readAtMost(source, name, maxSignatures)).toString('latin1')
  } catch (error) {
    const isMissing = error instanceof UpdateProblem && (error.problem === 'noFile' || error.problem === 'refused')
    throw isMissing ? new UpdateProblem('notSigned', error.detail, error) : error
  }
}

async function readAtMost(source: UpdateSource, name: string, max: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of await source.open(name)) {
    size += part.length
    if (size > max) throw new UpdateProblem('malformed', name)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

const signature = z.object({ status: z.string(), signer: z.string().nullable() })

/** Signature of a file, as evaluated by Windows. */
export type Signature = z.output<typeof signature>

type ReadSignature = (path: string) => Promise<Signature>
const script = `$s = Get-AuthenticodeSignature -LiteralPath $env:ROOMDESK_FILE
@{ status = "$($s.Status)"; signer = $s.SignerCertificate.Subject } | ConvertTo-Json -Compress`

/** Runs Windows PowerShell. The path is passed in the environment, so that it cannot be interpreted as code. */
const readSignature: ReadSignature = async (path) => {
  const powershell = win32.join(
    process.env.SystemRoot ?? 'C:\\Windows',
    'System32/WindowsPowerShell/v1.0/powershell.exe',
  )
  const { stdout } = await promisify(execFile)(powershell, ['-NoProfile', '-NonInteractive', '-Command', script], {
    // If the app was started from PowerShell 7, this variable lists modules that Windows PowerShell cannot load.
    // Without the variable, Windows PowerShell uses its own list.
    env: { ...process.env, PSModulePath: undefined, ROOMDESK_FILE: path },
    timeout: 60000,
    windowsHide: true,
  })
  return signature.parse(JSON.parse(stdout))
}

/**
 * Verifies that an installer for Windows has the same signer as the running app. If the running app is unsigned,
 * verifies nothing: the publisher's key has already verified the release.
 * @param program executable of the running app
 * @throws UpdateProblem
 */
export async function proveSignature(
  installer: string,
  program: string,
  read: ReadSignature = readSignature,
): Promise<void> {
  const own = await read(program)
  if (own.status === 'NotSigned') return
  const { status, signer } = await read(installer)
  if (own.status !== 'Valid' || status !== 'Valid' || signer === null || signer !== own.signer)
    throw new UpdateProblem('signature', signer ?? status)
}
