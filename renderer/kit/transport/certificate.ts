import { z } from 'zod'

const schema = z.object({ subject: z.string(), fingerprint: z.string(), expires_at: z.number() })
/** The certificate that a device is told to trust. */
export type CertificateToTrust = z.output<typeof schema>

const deadline = 15_000

/** Certificate of the site; null where it has none, or cannot be asked. */
export async function certificateToTrust(): Promise<CertificateToTrust | null> {
  try {
    const answer = await fetch('/certificate', { signal: AbortSignal.timeout(deadline) })
    return answer.ok ? schema.parse(await answer.json()) : null
  } catch {
    return null
  }
}
