/** Source that the page plays. */
export type PlayerSource =
  | { kind: 'live'; base: string }
  | { kind: 'file'; url: string }
  | { kind: 'none'; problem: 'noSource' | 'otherSite' | 'rtmp' }

/**
 * Returns the source in the address of the page: `/live/<token>`, or `?src=` of the pages of the original platform.
 * Only addresses of this site are played: a link must not show other content under its name.
 */
export function sourceOf(location: Pick<Location, 'pathname' | 'search' | 'origin' | 'href'>): PlayerSource {
  const isLivePage = /\/live\/[\w-]+\/?$/.test(location.pathname)
  if (isLivePage) return { kind: 'live', base: `${location.origin}${location.pathname.replace(/\/$/, '')}/` }
  const src = new URLSearchParams(location.search).get('src') ?? ''
  if (src === '') return { kind: 'none', problem: 'noSource' }
  const url = URL.parse(src, location.href)
  if (url?.protocol === 'rtmp:' || url?.protocol === 'rtmps:') return { kind: 'none', problem: 'rtmp' }
  if (url?.origin !== location.origin) return { kind: 'none', problem: 'otherSite' }
  const [, live] = /^(.*\/live\/[\w-]+)(?:\/|\/index\.m3u8)?$/.exec(url.pathname) ?? []
  if (live !== undefined) return { kind: 'live', base: `${url.origin}${live}/` }
  return { kind: 'file', url: url.href }
}
