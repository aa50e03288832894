/** Timeout of one request, in milliseconds. */
const answerMs = 4_000

/**
 * Resolves to whether a server that used plain HTTP now uses TLS on the same port: it answers plain HTTP with a
 * redirect.
 * @param url address at this page's own origin that is never redirected otherwise
 */
export async function speaksTls(url: string): Promise<boolean> {
  if (!url.startsWith('http:')) return false
  try {
    const how: RequestInit = {
      method: 'HEAD',
      redirect: 'manual',
      cache: 'no-store',
      signal: AbortSignal.timeout(answerMs),
    }
    return (await fetch(url, how)).type === 'opaqueredirect'
  } catch {
    return false
  }
}
