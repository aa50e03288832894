/** Parameters of a request. A parameter that is undefined is not sent. */
export type RequestParameters = Readonly<Record<string, unknown>>

/**
 * Encodes parameters for a query or a form. A `+` of a digest or token becomes `%2B`, because an unescaped one stands for
 * a space. Outside a JSON body, an object is its JSON text.
 */
export function encodeParameters(parameters: RequestParameters): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(textOf(value))}`)
    .join('&')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
