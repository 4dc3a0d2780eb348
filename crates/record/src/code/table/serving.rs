//! The codes about the server and who may ask it.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! serving {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
            HttpListen "http"."listen" Error, "The server can't listen at this address",
                "The address is in use, is not this machine's, or may not be used by this user.",
                "End what listens there, or name another address with --listen; port 0 takes any that is free.";
            HttpHost "http"."host" Error, "The request is for another host",
                "The Host header names neither this machine's loopback nor the address that the server listens at. A page of another site may have had its name lead here.",
                "Use the address that the server printed when it began.";
            HttpOrigin "http"."origin" Error, "The request comes from another site's page",
                "The Origin header is not the server's own, so a browser sent the request for a page of another site.",
                "Leave the Origin header out, or open the server's own address.";
            HttpPath "http"."path" Error, "There is nothing at this path",
                "The server has no such endpoint.",
                "See /openapi.json for the endpoints there are.";
            HttpMethod "http"."method" Error, "The path has no such method",
                "There is an endpoint of this path, but not with this method.",
                "See /openapi.json for the method that it has.";
            HttpQuery "http"."query" Error, "The query can't be read",
                "The part of the address after the question mark says something that the endpoint does not know.",
                "See /openapi.json for what it may say.";
            HttpMedia "http"."media" Error, "The body is not said to be JSON",
                "A body needs Content-Type: application/json, and no Content-Encoding. A page of another site can't send that without asking first.",
                "Send the header, and the text as it is.";
            HttpSlow "http"."slow" Error, "The body did not come in time",
                "The request's body was not there when its time was up. Nothing was done.",
                "Send it faster, or begin the server with a longer --timeout.";
            HttpCut "http"."cut" Error, "The body was cut off",
                "The connection ended, or broke its own protocol, before the body was whole. Nothing was done.",
                "Send the request again.";
            HttpBusy "http"."busy" Error, "The server has its hands full",
                "As many requests as it takes at once are at work, and none ended in time. Nothing was done.",
                "Wait a moment, and send the request again.";
            HttpFailed "http"."failed" Critical, "The server failed",
                "Something happened that should not. What is durable stays; a run that was at work can be gone on with.",
                "Look at what the server printed, and at the run with `countersign runs show`.";

            TokenMissing "token"."missing" Error, "There is no token",
                "Every request but /healthz needs the header Authorization: Bearer TOKEN.",
                "Send the token that the server printed at its first start, or one of `countersign token add`.";
            TokenUnknown "token"."unknown" Error, "There is no such token",
                "The token, or its id, is none of this data directory's.",
                "`countersign token list` shows those there are; `countersign token add` makes one.";
            TokenExpired "token"."expired" Error, "The token has expired",
                "It was made for a time, and that is over.",
                "Have another made with `countersign token add`.";
            TokenRevoked "token"."revoked" Error, "The token was revoked",
                "Somebody ended it, and it stays so.",
                "Have another made with `countersign token add`, if it should be.";
            TokenFile "token"."file" Error, "The file of tokens can't be used",
                "It can't be read or written, others than its owner can see it, or it holds something else. No token counts until it is mended.",
                "See the message. The file is tokens.json in the data directory and needs mode 0600; without it, the next start of the server makes a token.";
        }
    };
}
