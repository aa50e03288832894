import { part, xmlTree } from '../../edge/xml-tree.ts'

/** Maximum length of a parsed message, in characters; the same limit applies when receiving it. */
const maxMessage = 262_144

/**
 * Returns the content of the body of a SOAP message; undefined if it is invalid. Never throws, because messages are
 * untrusted.
 */
export function soapBody(text: string): unknown {
  return part(soapEnvelope(text), 'Body')
}

/** Parses a whole SOAP message. */
export function soapEnvelope(text: string): unknown {
  return part(xmlTree(text, maxMessage), 'Envelope')
}

/** Escapes text for an element. */
export function escaped(value: string): string {
  return value.replaceAll(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
