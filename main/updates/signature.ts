import { execFile } from 'node:child_process'
import { win32 } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { UpdateProblem } from './update-problem.ts'

const signature = z.object({ status: z.string(), signer: z.string().nullable() })
/** Signature of a file, as Windows judges it. */
export type Signature = z.output<typeof signature>

/** Reads the signature of a file. */
export type ReadSignature = (path: string) => Promise<Signature>

const script = `$s = Get-AuthenticodeSignature -LiteralPath $env:ROOMDESK_FILE
@{ status = "$($s.Status)"; signer = $s.SignerCertificate.Subject } | ConvertTo-Json -Compress`

/** Asks Windows PowerShell. The path is in the environment: nothing in it is code. */
const readSignature: ReadSignature = async (path) => {
  const powershell = win32.join(
    process.env.SystemRoot ?? 'C:\\Windows',
    'System32/WindowsPowerShell/v1.0/powershell.exe',
  )
  const { stdout } = await promisify(execFile)(powershell, ['-NoProfile', '-NonInteractive', '-Command', script], {
    // Started from PowerShell 7, the app inherits a list of its modules, which Windows PowerShell cannot load. Without a list it takes its own.
    env: { ...process.env, PSModulePath: undefined, ROOMDESK_FILE: path },
    timeout: 60_000,
    windowsHide: true,
  })
  return signature.parse(JSON.parse(stdout))
}

/**
 * Proves that an installer for Windows was signed by whoever signed the running app.
 * @param program executable of the running app
 * Nothing to prove where the running app is not signed itself: the publisher's key proved the release.
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
