// Generates the client kit from the contract, builds it, and packs it for `npm install`.
const { makeClientKit } = await import('../packaging/client-kit/make-client-kit.ts')

console.log(makeClientKit())
