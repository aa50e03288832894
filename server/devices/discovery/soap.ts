import { part, xmlTree } from '../../edge/xml-tree.ts'

/** Longest message that is read, in characters: as much as is received of one. */
const maxMessage = 262_144

/** Content of the body of a SOAP message; undefined if it is none. Never throws: messages come from strangers. */
export function soapBody(text: string): unknown {
  return part(soapEnvelope(text), 'Body')
}

/** A whole SOAP message. */
export function soapEnvelope(text: string): unknown {
  return part(xmlTree(text, maxMessage), 'Envelope')
}

/** Text of an element, escaped. */
export function escaped(value: string): string {
  return value.replaceAll(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
