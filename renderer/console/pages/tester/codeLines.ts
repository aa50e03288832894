/** Languages in which a request can be copied. */
export const codeLanguages = ['curl', 'javascript', 'python'] as const
export type CodeLanguage = (typeof codeLanguages)[number]

/** A request as sent on the wire. */
export interface WireRequest {
  method: string
  url: string
  /** Content-Type; empty: none. */
  contentType: string
  body: string
  /** The listener's certificate is self-signed: clients need an option to trust it. */
  selfSigned: boolean
}

/** Parses a request's text: request line, headers, an empty line, body. */
export function wireRequest(text: string, url: string, selfSigned: boolean): WireRequest {
  const end = text.indexOf('\n\n')
  const head = end < 0 ? text : text.slice(0, end)
  return {
    method: head.slice(0, head.indexOf(' ')),
    url,
    contentType: /^content-type: (.+)$/im.exec(head)?.[1] ?? '',
    body: end < 0 ? '' : text.slice(end + 2),
    selfSigned,
  }
}

/**
 * Returns code for the request: a shell command, JavaScript, or Python with only the standard library. It runs
 * unchanged.
 */
export function codeLines(language: CodeLanguage, request: WireRequest): string {
  if (language === 'curl') return curl(request)
  return language === 'javascript' ? javascript(request) : python(request)
}

function curl({ method, url, contentType, body, selfSigned }: WireRequest): string {
  const parts = ['curl', ...(selfSigned ? ['--insecure'] : [])]
  if (method !== 'GET') parts.push(`--request ${method}`)
  if (contentType !== '') parts.push(`--header ${shell(`Content-Type: ${contentType}`)}`)
  if (body !== '') parts.push(`--data-raw ${shell(body)}`)
  else if (method !== 'GET') parts.push("--data-raw ''")
  return [...parts, shell(url)].join(parts.length > 2 ? ' \\\n  ' : ' ')
}

function javascript({ method, url, contentType, body, selfSigned }: WireRequest): string {
  const options = [
    ...(method === 'GET' ? [] : [`  method: ${JSON.stringify(method)},`]),
    ...(contentType === '' ? [] : [`  headers: { "Content-Type": ${JSON.stringify(contentType)} },`]),
    ...(body === '' ? [] : [`  body: ${JSON.stringify(body)},`]),
  ]
  const call = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`
  return [
    ...(selfSigned ? ['// Self-signed: run Node.js with NODE_EXTRA_CA_CERTS=<the certificate file>.'] : []),
    `const response = await fetch(${JSON.stringify(url)}${call})`,
    'console.log(await response.json())',
  ].join('\n')
}

function python({ method, url, contentType, body, selfSigned }: WireRequest): string {
  const options = [
    ...(method === 'GET' ? [] : [`    method=${JSON.stringify(method)},`]),
    ...(contentType === '' ? [] : [`    headers={"Content-Type": ${JSON.stringify(contentType)}},`]),
    ...(body === '' ? [] : [`    data=${JSON.stringify(body)}.encode(),`]),
  ]
  return [
    'import json',
    ...(selfSigned ? ['import ssl'] : []),
    'import urllib.request',
    '',
    ...(selfSigned
      ? [
          '# Self-signed: better than no check is cafile="<the certificate file>".',
          'context = ssl._create_unverified_context()',
        ]
      : []),
    options.length === 0
      ? `request = urllib.request.Request(${JSON.stringify(url)})`
      : `request = urllib.request.Request(\n    ${JSON.stringify(url)},\n${options.join('\n')}\n)`,
    `with urllib.request.urlopen(request${selfSigned ? ', context=context' : ''}) as response:`,
    '    print(json.load(response))',
  ].join('\n')
}

/** Quotes a text as one word of a POSIX shell. */
function shell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
