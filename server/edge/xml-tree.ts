import { XMLParser } from 'fast-xml-parser'

/** Maximum length of a value read from a document, in characters. */
const maxValue = 4_000

const parser = new XMLParser({
  removeNSPrefix: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  maxNestedTags: 40,
})

/** Parses a document from another machine; undefined: invalid, or longer than `maxChars`. Never throws. */
export function xmlTree(document: string, maxChars: number): unknown {
  // A document type could define entities; neither SOAP (1.2, section 5) nor S3 uses one.
  if (document.length > maxChars || /<!(DOCTYPE|ENTITY)/i.test(document)) return undefined
  try {
    return parser.parse(document)
  } catch {
    // The document is not XML: the caller reports that.
    return undefined
  }
}

/** Returns the elements at this path; the last part may occur several times. */
export function parts(node: unknown, ...path: readonly string[]): unknown[] {
  const last = path.at(-1) ?? ''
  const parent = path.slice(0, -1).reduce((at: unknown, name) => part(at, name), node)
  const found = read(parent, last)
  return Array.isArray(found) ? (found as unknown[]) : found === undefined ? [] : [found]
}

/** Returns the first element at this path; undefined: none. */
export function part(node: unknown, ...path: readonly string[]): unknown {
  return path.reduce((at: unknown, name) => {
    const found = read(at, name)
    return Array.isArray(found) ? (found as unknown[])[0] : found
  }, node)
}

/** Returns the text of an element or attribute (`@name`); empty: none. */
export function textAt(node: unknown, ...path: readonly string[]): string {
  const found = part(node, ...path)
  const value = typeof found === 'object' ? read(found, '#text') : found
  return typeof value === 'string' ? value.trim().slice(0, maxValue) : ''
}

function read(node: unknown, name: string): unknown {
  return typeof node === 'object' && node !== null && Object.hasOwn(node, name) ? Reflect.get(node, name) : undefined
}
