import { type Licence, licenceSchema } from '../../../../shared/licence.ts'

/**
 * Parses a licence from JSON, alone or as `licence` of a site file; returns the problem in English if it is invalid.
 */
export function licenceIn(text: string): { ok: true; licence: Licence } | { ok: false; problem: string } {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return { ok: false, problem: 'JSON' }
  }
  const inner = typeof document === 'object' && document !== null && 'licence' in document ? document.licence : document
  const parsed = licenceSchema.safeParse(inner)
  if (parsed.success) return { ok: true, licence: parsed.data }
  const [issue] = parsed.error.issues
  return { ok: false, problem: issue ? `${issue.path.join('.')} ${issue.message}`.trim() : '' }
}
