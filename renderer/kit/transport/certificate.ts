import { z } from 'zod'

const schema = z.object({ subject: z.string(), fingerprint: z.string(), expires_at: z.number() })
/** The certificate to trust on a device. */
export type CertificateToTrust = z.output<typeof schema>

const deadline = 15_000

/** Reads the certificate of the site; null if it has none, or does not answer. */
export async function certificateToTrust(): Promise<CertificateToTrust | null> {
  try {
    const answer = await fetch('/certificate', { signal: AbortSignal.timeout(deadline) })
    return answer.status === 200 ? schema.parse(await answer.json()) : null
  } catch {
    return null
  }
}
