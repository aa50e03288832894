import { part, xmlTree } from '../../edge/xml-tree.ts'

/** Maximum length of a parsed message, in characters. The same limit applies when a message is received. */
const maxMessage = 262_144

/**
 * Returns the content of the body of a SOAP message; undefined: invalid. Never throws, because messages are
 * untrusted.
 */
export function soapBody(text: string): unknown {
  return part(soapEnvelope(text), 'Body')
}

/** Parses a SOAP message and returns its envelope; undefined: invalid. */
export function soapEnvelope(text: string): unknown {
  return part(xmlTree(text, maxMessage), 'Envelope')
}

/** Escapes text for the content of an XML element. */
export function escaped(value: string): string {
  return value.replaceAll(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
